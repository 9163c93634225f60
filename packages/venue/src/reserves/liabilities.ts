/**
 * What the venue owes at a position of the log, by account, in micro-dollars: wallet, what orders reserve, the
 * equity of each position but not below zero, and withdrawals that are not paid, with their fees. Insurance fund,
 * backstop and funding pool are owed to nobody by name and count as accounts of their own; the fund's seed was
 * never deposited and does not count.
 */
import { equityOf, type VenueState } from "@perpgate/engine/reading";
import { mulExact } from "@perpgate/protocol/integers";

/** Addresses that nobody has a key of: 1 the fund, 2 the backstop, 3 the funding pool. */
const FUND = "1".padStart(40, "0");
const BACKSTOP = "2".padStart(40, "0");
const FUNDING_POOL = "3".padStart(40, "0");
/** Before the accounts: the number of these is that of no account, from 0 on. */
export const VENUE_LEAVES = 3;

export interface Liabilities {
  /** 40 lower-case hex digits. An account's place is its number + VENUE_LEAVES − 1. */
  readonly addresses: readonly string[];
  readonly balances: Float64Array;
}

/** Whether the venue commits to what it owes: nobody deposited what the `dev` attestor grants. */
export function commitsReserves({ config, rules }: VenueState): boolean {
  return rules.hasWithdrawals && config?.attestorKind === "chain";
}

/** A pass over all accounts and positions: for a replica that takes no orders. */
export function liabilitiesOf(state: VenueState): Liabilities {
  const { accounts, addresses, withdrawals, markets, totals, config } = state;
  // Account 0 is the backstop.
  const balances = new Float64Array(accounts.rows - 1 + VENUE_LEAVES);
  const placeOf = (account: number): number => account + VENUE_LEAVES - 1;
  const names = [FUND, BACKSTOP, FUNDING_POOL];
  for (let account = 1; account < accounts.rows; account++) {
    names.push(addresses.at(account) ?? "");
    balances[placeOf(account)] = state.wallet(account);
  }
  let backstop = 0;
  for (const market of markets) {
    const { positions, backstopLots, backstopCost, markUnit } = market;
    backstop += mulExact(backstopLots, markUnit) - backstopCost;
    for (let row = 0; row < positions.table.rows; row++) {
      const account = positions.account(row);
      if (account === 0) continue;
      const owed = positions.reserved(row) + Math.max(0, equityOf(market, row));
      balances[placeOf(account)]! += owed;
    }
  }
  for (const { account, amountMicros, feeMicros } of withdrawals.byId.values()) {
    balances[placeOf(account)]! += amountMicros + feeMicros;
  }
  balances[0] = Math.max(0, totals.fund - (config?.fundSeedMicros ?? 0));
  balances[1] = Math.max(0, backstop);
  balances[2] = Math.max(0, totals.fundingPool);
  return { addresses: names, balances };
}

/** Their sum; undefined if it has no place in a tree: a balance below zero, or 2^53 and more. */
export function sumOf({ balances }: Liabilities): number | undefined {
  let sum = 0;
  for (const balance of balances) {
    sum += balance;
    if (!(balance >= 0) || !Number.isSafeInteger(sum)) return undefined;
  }
  return sum;
}
