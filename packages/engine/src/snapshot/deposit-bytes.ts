/** Deposits and the votes on them as bytes, ascending id. */
import {
  type AttestorVote,
  type DepositRecord,
  type DepositStatus,
  depositKey,
} from "../state/deposits.js";
import type { VenueState } from "../state/venue.js";
import type { StateReader, StateWriter } from "./bytes.js";

const STATUSES: readonly DepositStatus[] = ["queued", "confirming", "credited", "rejected"];
const VERDICTS: readonly AttestorVote["verdict"][] = ["confirming", "credit", "reject", "reorged"];

export function writeDeposits(w: StateWriter, s: VenueState): void {
  const deposits = s.deposits.sorted();
  w.number(deposits.length);
  for (const deposit of deposits) {
    w.numbers([
      deposit.id,
      deposit.registrant,
      deposit.registeredAtMs,
      deposit.settledAtMs,
      STATUSES.indexOf(deposit.status),
      deposit.confirmations,
      deposit.required,
    ]);
    w.texts([deposit.chain, deposit.txHash, deposit.token, deposit.reason, deposit.reorged]);
    w.numbers(deposit.credits.flatMap((c) => [c.account, c.amountMicros, c.logIndex]));
    const votes = byAttestor(deposit);
    w.number(votes.length);
    for (const [attestor, vote] of votes) {
      w.numbers([
        attestor,
        VERDICTS.indexOf(vote.verdict),
        vote.confirmations,
        vote.required,
        vote.votedAtMs,
      ]);
      w.text(vote.reason);
      w.texts(vote.credits.map((c) => c.address));
      w.numbers(vote.credits.flatMap((c) => [c.amountMicros, c.logIndex]));
    }
  }
}

export function readDeposits(r: StateReader, s: VenueState): void {
  r.repeat(() => {
    const deposit = readDeposit(r);
    const isDev = s.config?.attestorKind === "dev";
    const key = depositKey(isDev ? deposit.registrant : 0, deposit.chain, deposit.txHash);
    s.deposits.add(key, deposit);
    if (isDev && deposit.status === "queued") s.deposits.awaitDevCredit(deposit);
  });
}

function readDeposit(r: StateReader): DepositRecord {
  const [id, registrant, registeredAtMs, settledAtMs, status, confirmations, required] =
    r.numbers();
  const [chain, txHash, token, reason, reorged] = r.texts();
  const credits = r.numbers();
  const votes = new Map<number, AttestorVote>();
  r.repeat(() => {
    const [attestor, verdict, seen, needed, votedAtMs] = r.numbers();
    const why = r.text();
    const addresses = r.texts();
    const figures = r.numbers();
    votes.set(attestor!, {
      verdict: VERDICTS[verdict!]!,
      confirmations: seen!,
      required: needed!,
      votedAtMs: votedAtMs!,
      reason: why,
      credits: addresses.map((address, i) => ({
        address,
        amountMicros: figures[2 * i]!,
        logIndex: figures[2 * i + 1]!,
      })),
      part: 1,
      parts: 1,
    });
  });
  return {
    id: id!,
    registrant: registrant!,
    registeredAtMs: registeredAtMs!,
    settledAtMs: settledAtMs!,
    creditedParts: 0,
    reorged: reorged!,
    reorgSettledAtMs: 0,
    chain: chain!,
    txHash: txHash!,
    token: token!,
    status: STATUSES[status!]!,
    confirmations: confirmations!,
    required: required!,
    reason: reason!,
    credits: Array.from({ length: credits.length / 3 }, (_, i) => ({
      account: credits[3 * i]!,
      amountMicros: credits[3 * i + 1]!,
      logIndex: credits[3 * i + 2]!,
      token: "",
    })),
    votes,
  };
}

/**
 * The additions are what deposits gained after the format was fixed: pauses, parts, tokens of single
 * credits, settled reorganisations. They are at the end of the state's bytes, and are absent if there
 * are none and nothing follows, so that such a state has the same bytes, and the same hash, as before.
 */
export function writeDepositAdditions(
  w: StateWriter,
  { deposits }: VenueState,
  isFollowed: boolean,
): void {
  const extended = deposits.sorted().filter(isExtended);
  if (extended.length === 0 && deposits.paused.size === 0 && !isFollowed) return;
  w.texts([...deposits.paused].sort());
  w.number(extended.length);
  for (const deposit of extended) {
    w.numbers([deposit.id, deposit.creditedParts, deposit.reorgSettledAtMs]);
    w.texts(deposit.credits.map(({ token }) => token));
    const votes = byAttestor(deposit);
    w.numbers(votes.flatMap(([, { part, parts }]) => [part, parts]));
    for (const [, { credits }] of votes) w.texts(credits.map(({ token = "" }) => token));
  }
}

/** Called after `readDeposits`. */
export function readDepositAdditions(r: StateReader, { deposits }: VenueState): void {
  if (r.isAtEnd) return;
  for (const scope of r.texts()) deposits.paused.add(scope);
  r.repeat(() => {
    const [id = 0, creditedParts = 0, reorgSettledAtMs = 0] = r.numbers();
    const deposit = deposits.byId.get(id);
    if (deposit === undefined) throw new RangeError(`additions to deposit ${id}, which is unknown`);
    deposit.creditedParts = creditedParts;
    deposit.reorgSettledAtMs = reorgSettledAtMs;
    const tokens = r.texts();
    deposit.credits = deposit.credits.map((entry, i) => ({ ...entry, token: tokens[i] ?? "" }));
    const parts = r.numbers();
    byAttestor(deposit).forEach(([attestor, vote], i) => {
      const voteTokens = r.texts();
      deposit.votes.set(attestor, {
        ...vote,
        part: parts[2 * i] ?? 1,
        parts: parts[2 * i + 1] ?? 1,
        credits: vote.credits.map((entry, at) => withToken(entry, voteTokens[at] ?? "")),
      });
    });
  });
}

function byAttestor({ votes }: DepositRecord): [attestor: number, vote: AttestorVote][] {
  return [...votes].sort(([a], [b]) => a - b);
}

function withToken(
  entry: AttestorVote["credits"][number],
  token: string,
): AttestorVote["credits"][number] {
  return token === "" ? entry : { ...entry, token };
}

function isExtended(deposit: DepositRecord): boolean {
  if (deposit.creditedParts !== 0 || deposit.reorgSettledAtMs !== 0) return true;
  if (deposit.credits.some(({ token }) => token !== "")) return true;
  for (const { part, parts, credits } of deposit.votes.values()) {
    if (part !== 1 || parts !== 1 || credits.some(({ token }) => token !== undefined)) return true;
  }
  return false;
}
