/** What the venue owes by its newest commitment, against what attestors have seen in its vaults. */

import type { RequestHandlers } from "@perpgate/link";
import type { Reserves } from "@perpgate/protocol";
import { fromMicros, toMicrosFloor } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import type { Attestation } from "./attestation.js";

export function reserves(
  venue: Venue,
  attestation: Attestation | undefined,
): Pick<RequestHandlers, "getReserves"> {
  return {
    getReserves: async () => {
      const vaults = attestation?.holdings() ?? [];
      return {
        result: {
          liabilities: await liabilitiesOf(venue),
          vaults,
          pendingWithdrawals: venue.views.owedWithdrawals,
          difference: reservesDifference(venue, vaults),
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

/**
 * Dollars that the vaults hold above what the venue owes by its newest commitment, less what it has paid since; null
 * while one of them is not known.
 */
export function reservesDifference({ listing }: Venue, vaults: Reserves["vaults"]): number | null {
  const { reserves: newest, paidSinceCount } = listing;
  const held = heldMicros(vaults);
  if (held === null || newest === null) return null;
  return fromMicros(held + paidSinceCount - newest.sumMicros);
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
