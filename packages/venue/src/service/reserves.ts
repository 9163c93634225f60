/** What the venue owes by its newest commitment, against what attestors have seen in its vaults. */

import type { RequestHandlers } from "@perpgate/link";
import type { Reserves } from "@perpgate/protocol";
import { toMicrosFloor } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import { fromMicros } from "../views/figures.js";
import type { Attestation } from "./attestation.js";

export function reserves(
  venue: Venue,
  attestation: Attestation | undefined,
): Pick<RequestHandlers, "getReserves"> {
  return {
    getReserves: async () => {
      const vaults = attestation?.holdings() ?? [];
      const newest = venue.reserves?.newest ?? null;
      const held = heldMicros(vaults);
      const isKnown = held !== null && newest !== null;
      return {
        result: {
          liabilities: await liabilitiesOf(venue),
          vaults,
          pendingWithdrawals: venue.views.owedWithdrawals,
          difference: isKnown ? fromMicros(held - newest.sumMicros) : null,
        },
      };
    },
  };
}

async function liabilitiesOf({ reserves: book }: Venue): Promise<Reserves["liabilities"]> {
  const newest = book?.newest ?? null;
  if (book === null || newest === null) return null;
  const { position, seq, timeMs, root, sumMicros, leaves } = newest;
  return {
    position: String(position),
    committedAt: String(seq),
    time: timeMs,
    root: `0x${root}`,
    sum: fromMicros(sumMicros),
    leaves,
    proof: await book.proof(),
  };
}

/** Null while what some vault holds is not known, or there is none. */
function heldMicros(vaults: Reserves["vaults"]): number | null {
  let sum = 0;
  for (const { holds } of vaults) {
    if (holds === null) return null;
    sum += toMicrosFloor(holds);
  }
  return vaults.length === 0 ? null : sum;
}
