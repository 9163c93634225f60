/**
 * Withdrawals as bytes, at the end of the state's; absent while there is nothing of them, so that a venue
 * without withdrawals has the same bytes, and the same hash, as before.
 */
import type { VenueState } from "../state/venue.js";
import {
  OPEN_WITHDRAWAL_STATUSES,
  type PaymentVote,
  type WithdrawalState,
} from "../state/withdrawals.js";
import type { WithdrawalConfig } from "../withdrawals/config.js";
import { BytesUnreadable, type StateReader, type StateWriter } from "./bytes.js";

const VERDICTS: readonly PaymentVote["verdict"][] = ["pending", "paid", "unpaid"];

export function hasWithdrawals({ config, withdrawals, timeMs }: VenueState): boolean {
  return (
    config?.withdrawals !== undefined ||
    withdrawals.byId.size > 0 ||
    withdrawals.sent.size > 0 ||
    withdrawals.contractChains.size > 0 ||
    withdrawals.day.words(timeMs).length > 0
  );
}

export function writeWithdrawals(w: StateWriter, s: VenueState): void {
  const { withdrawals, timeMs } = s;
  writeTerms(w, s.config?.withdrawals);
  const flows = [...withdrawals.sent].sort(([a], [b]) => (a < b ? -1 : 1));
  w.texts(flows.map(([key]) => key));
  w.numbers(flows.map(([, micros]) => micros));
  w.numbers(withdrawals.hour.words(timeMs));
  w.numbers(withdrawals.day.words(timeMs));
  const bound = [...withdrawals.contractChains].sort(([a], [b]) => a - b);
  w.numbers(bound.flat());
  const open = withdrawals.sorted();
  w.number(open.length);
  for (const each of open) writeWithdrawal(w, each);
}

function writeWithdrawal(w: StateWriter, withdrawal: WithdrawalState): void {
  w.numbers([
    withdrawal.id,
    withdrawal.account,
    withdrawal.amountMicros,
    withdrawal.feeMicros,
    withdrawal.requestedAtMs,
    withdrawal.deadlineMs,
    OPEN_WITHDRAWAL_STATUSES.indexOf(withdrawal.status),
  ]);
  w.texts([withdrawal.chain, withdrawal.token]);
  w.numbers([...withdrawal.signers].sort((a, b) => a - b));
  const sightings = [...withdrawal.sightings].sort(([a], [b]) => a - b);
  w.numbers(
    sightings.flatMap(([attestor, { verdict, votedAtMs }]) => [
      attestor,
      VERDICTS.indexOf(verdict),
      votedAtMs,
    ]),
  );
  w.texts(sightings.map(([, { txHash }]) => txHash));
}

export function readWithdrawals(r: StateReader, s: VenueState): void {
  if (r.isAtEnd) return;
  const terms = readTerms(r);
  if (terms !== undefined && s.config !== null) s.config = { ...s.config, withdrawals: terms };
  const { withdrawals } = s;
  const keys = r.texts();
  const sums = r.numbers();
  keys.forEach((key, i) => {
    withdrawals.sent.set(key, wordOf(sums, i));
  });
  withdrawals.hour.restore(r.numbers());
  withdrawals.day.restore(r.numbers());
  const bound = r.numbers();
  for (let at = 0; at < bound.length; at += 2) {
    withdrawals.contractChains.set(wordOf(bound, at), wordOf(bound, at + 1));
  }
  r.repeat(() => withdrawals.add(readWithdrawal(r)));
}

function readWithdrawal(r: StateReader): WithdrawalState {
  const words = r.numbers();
  const [chain = "", token = ""] = r.texts();
  const signers = new Set(r.numbers());
  const figures = r.numbers();
  const sightings = new Map<number, PaymentVote>();
  r.texts().forEach((txHash, i) => {
    const verdict = VERDICTS[wordOf(figures, 3 * i + 1)];
    if (verdict === undefined) throw new BytesUnreadable("a vote on a withdrawal has no verdict");
    const votedAtMs = wordOf(figures, 3 * i + 2);
    sightings.set(wordOf(figures, 3 * i), { verdict, votedAtMs, txHash });
  });
  const status = OPEN_WITHDRAWAL_STATUSES[wordOf(words, 6)];
  if (status === undefined) throw new BytesUnreadable("a withdrawal has no status");
  return {
    id: wordOf(words, 0),
    account: wordOf(words, 1),
    amountMicros: wordOf(words, 2),
    feeMicros: wordOf(words, 3),
    requestedAtMs: wordOf(words, 4),
    deadlineMs: wordOf(words, 5),
    status,
    chain,
    token,
    signers,
    sightings,
  };
}

function writeTerms(w: StateWriter, terms: WithdrawalConfig | undefined): void {
  if (terms === undefined) {
    w.numbers([]);
    return;
  }
  const { minMicros, feeMicros, accountDayMicros, venueHourMicros, venueDayMicros } = terms;
  const bounds = [accountDayMicros, venueHourMicros, venueDayMicros];
  w.numbers([minMicros, feeMicros, ...bounds, terms.lifeMs]);
  w.number(terms.chains.length);
  for (const { chain, chainId, tokens, maxUnpaidMicros } of terms.chains) {
    w.text(chain);
    w.numbers([chainId, maxUnpaidMicros]);
    w.texts(tokens);
  }
}

function readTerms(r: StateReader): WithdrawalConfig | undefined {
  const figures = r.numbers();
  if (figures.length === 0) return undefined;
  const chains: WithdrawalConfig["chains"][number][] = [];
  r.repeat(() => {
    const chain = r.text();
    const bounds = r.numbers();
    const tokens = r.texts();
    const [chainId, maxUnpaidMicros] = [wordOf(bounds, 0), wordOf(bounds, 1)];
    chains.push({ chain, chainId, tokens, maxUnpaidMicros });
  });
  return {
    minMicros: wordOf(figures, 0),
    feeMicros: wordOf(figures, 1),
    accountDayMicros: wordOf(figures, 2),
    venueHourMicros: wordOf(figures, 3),
    venueDayMicros: wordOf(figures, 4),
    lifeMs: wordOf(figures, 5),
    chains,
  };
}

function wordOf(words: readonly number[], at: number): number {
  const word = words[at];
  if (word === undefined) throw new BytesUnreadable("a withdrawal is cut short");
  return word;
}
