/** Withdraw: checks, the debit, and the withdrawal that waits for the attestors (docs/engine.md, "Withdrawals"). */
import { clientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import type { Withdraw } from "../commands.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { addressWords } from "../sessions/session-commands.js";
import { signingSession } from "../sessions/signing.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { ALL_ACCOUNTS } from "../state/withdrawals.js";
import type { WithdrawalConfig } from "./config.js";

/** A request, apart from who signed it. */
export type RequestedWithdrawal = Pick<Withdraw, "chain" | "token" | "amountMicros">;

/** Reason and figures of a refusal. */
export type WithdrawalFault = readonly [refusal: number, detail1?: number, detail2?: number];

/** Checks and debits; returns whether it was accepted. `reportWithdrawal` follows. */
export function applyWithdraw(s: VenueState, command: Withdraw): boolean {
  const session = signingSession(s, command);
  if (session === undefined) return false;
  const { account } = session;
  const { amountMicros, nonce } = command;
  if (![amountMicros, nonce].every(isCount)) return refuse(s, REFUSAL.invalid_command);
  const fault = requestFault(s, account, command);
  if (fault !== undefined) return refuse(s, ...fault);
  const { feeMicros } = s.config!.withdrawals!;
  s.scratch.session = session;
  s.addWallet(account, -(amountMicros + feeMicros));
  s.totals.fees += feeMicros;
  s.totals.deposits -= amountMicros;
  return true;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Why the account cannot have this paid now; undefined if it can. */
export function requestFault(
  s: VenueState,
  account: number,
  { chain: name, token, amountMicros }: RequestedWithdrawal,
): WithdrawalFault | undefined {
  const { withdrawals, deposits } = s;
  const terms = s.rules.hasWithdrawals ? s.config!.withdrawals : undefined;
  const chain = terms?.chains.find((each) => each.chain === name);
  if (terms === undefined || chain === undefined || !chain.tokens.includes(token)) {
    return [REFUSAL.withdrawals_not_supported];
  }
  const contractChain = withdrawals.contractChains.get(account) ?? chain.chainId;
  if (contractChain !== chain.chainId) return [REFUSAL.contract_wallet_elsewhere, contractChain];
  if (amountMicros < terms.minMicros) return [REFUSAL.withdrawal_too_small, terms.minMicros];
  const wallet = s.wallet(account);
  if (amountMicros + terms.feeMicros > wallet) {
    return [REFUSAL.insufficient_balance, wallet, terms.feeMicros];
  }
  if (deposits.paused.has(name) || deposits.paused.has(token)) return [REFUSAL.withdrawals_paused];
  if (deposits.hasReorg(account)) return [REFUSAL.reorged_credit];
  const there = deposits.credited(name, token) - withdrawals.sentOf(name, token);
  if (amountMicros > there) return [REFUSAL.chain_balance_too_small, Math.max(0, there)];
  const room = chain.maxUnpaidMicros - withdrawals.unpaid(name);
  if (amountMicros > room) return [REFUSAL.unpaid_withdrawals, Math.max(0, room)];
  const fitsAtMs = fitsAt(s, account, amountMicros, terms);
  if (fitsAtMs <= s.timeMs) return undefined;
  return [REFUSAL.withdrawal_limit, Number.isFinite(fitsAtMs) ? fitsAtMs : 0];
}

/** When all three bounds leave room for the amount. */
function fitsAt(
  { withdrawals: { hour, day }, timeMs }: VenueState,
  account: number,
  amount: number,
  { accountDayMicros, venueHourMicros, venueDayMicros }: WithdrawalConfig,
): number {
  return Math.max(
    day.fitsAt(account, amount, accountDayMicros, timeMs),
    hour.fitsAt(ALL_ACCOUNTS, amount, venueHourMicros, timeMs),
    day.fitsAt(ALL_ACCOUNTS, amount, venueDayMicros, timeMs),
  );
}

/** The last event of an accepted Withdraw; its nonce counts as used from here on. */
export function reportWithdrawal(s: VenueState, command: Withdraw): void {
  const { session } = s.scratch;
  if (session === null) throw new Error("no withdrawal to report");
  const { account } = session;
  const { chain, token, amountMicros, nonce } = command;
  const { feeMicros, lifeMs } = s.config!.withdrawals!;
  const { withdrawals, seq, timeMs } = s;
  // Whole seconds: the vault compares it with the time of a block.
  const deadlineMs = Math.floor(timeMs / 1_000) * 1_000 + lifeMs;
  withdrawals.add({
    id: seq,
    account,
    chain,
    token,
    amountMicros,
    feeMicros,
    requestedAtMs: timeMs,
    deadlineMs,
    status: "queued",
    signers: new Set(),
    sightings: new Map(),
  });
  withdrawals.countSent(command, amountMicros);
  withdrawals.hour.add(ALL_ACCOUNTS, amountMicros, timeMs);
  withdrawals.day.add(ALL_ACCOUNTS, amountMicros, timeMs);
  withdrawals.day.add(account, amountMicros, timeMs);
  emit.WithdrawalRequested(s.events, {
    withdrawalId: seq,
    account,
    session: session.number,
    nonce,
    amountMicros,
    feeMicros,
    deadlineMs,
    walletMicros: s.wallet(account),
  });
  acknowledge(s, session, command, deadlineMs);
  session.nonces.remember(nonce, seq);
}

/** Puts what is paid into the tree of the block, where a checkpoint proves it to the attestors. */
function acknowledge(
  s: VenueState,
  { account, number }: Session,
  { chain, token, amountMicros, nonce }: Withdraw,
  deadlineMs: number,
): void {
  const { chainId = 0 } = s.config!.withdrawals!.chains.find((each) => each.chain === chain) ?? {};
  const [token1, token2] = clientIdWords(token) ?? NO_CLIENT_ID;
  emit.WithdrawalAcknowledged(s.events, {
    withdrawalId: s.seq,
    account,
    ...addressWords(s.addresses.at(account) ?? ""),
    chainId,
    token1,
    token2,
    amountMicros,
    deadlineMs,
    session: number,
    nonce,
    block: s.totals.block,
  });
  s.totals.blockAcks += 1;
}
