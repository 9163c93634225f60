/** `reserves`: what the venue owes and what its vaults hold, checked here. */

import { liabilityFile } from "@perpgate/protocol/receipts";
import { checkReserves, type Liability, PerpgateError, type Reserves } from "@perpgate/sdk";
import { money, time } from "../cli/quantities.js";
import { type Column, left, right } from "../cli/table.js";
import type { TradingVenue } from "./connection.js";
import { save } from "./receipts.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface ReservesOptions extends VenueCommandOptions {
  readonly key?: string;
  readonly witness?: readonly string[];
  readonly require?: number;
  readonly save?: string;
}

export async function showReserves(
  { client, session, output }: TradingVenue,
  { key, witness, require, save: file }: ReservesOptions,
): Promise<number> {
  const reserves = await client.reserves();
  const liability = await ownLiability(session);
  const { address } = await session.account();
  const own = liability === null ? undefined : { address, liability };
  const keys = {
    ...(key === undefined ? {} : { logKey: key }),
    ...(witness === undefined ? {} : { witnessKeys: witness }),
    require,
  };
  const checked = await checkReserves(reserves, own, keys);
  const fault = typeof checked === "string" ? checked : null;
  const isIncluded = fault === null && liability !== null;
  const proof = reserves.liabilities?.proof ?? null;
  if (file !== undefined && isIncluded && proof !== null) {
    save(file, liabilityFile(proof, liability), "proof", output);
  }
  if (output.isJson) output.json({ ...reserves, liability, fault });
  else {
    output.rows(VAULTS, reserves.vaults, "no vaults");
    const { liabilities, difference } = reserves;
    if (liabilities !== null) {
      output.line(
        `owed ${money(liabilities.sum)} to ${liabilities.leaves} accounts at ${time(liabilities.time)} UTC` +
          (difference === null ? "" : `, the vaults hold ${money(difference)} above it`),
      );
    }
    if (isIncluded) output.line(`your ${money(liability.balanceMicros / 1e6)} are among it`);
    else output.line(fault ?? "this account is in no commitment yet");
  }
  return isIncluded ? 0 : 1;
}

async function ownLiability(session: TradingVenue["session"]): Promise<Liability | null> {
  try {
    return await session.liability();
  } catch (error) {
    if (error instanceof PerpgateError && error.code === "liability_not_found") return null;
    throw error;
  }
}

const VAULTS: readonly Column<Reserves["vaults"][number]>[] = [
  left("chain", ({ chain }) => chain),
  left("token", ({ token }) => token),
  left("vault", ({ vault }) => vault),
  right("holds", ({ holds }) => (holds === null ? "unknown" : money(holds))),
  right("attestors", ({ statements }) => String(statements.length)),
];
