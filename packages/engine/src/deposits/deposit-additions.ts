/**
 * What deposits gained after the state's form was fixed: pauses, parts, tokens of single credits,
 * settled reorganisations. It stands at the end of the state's bytes, and only where there is any of
 * it, so that a state without these has the bytes, and the hash, that it always had.
 */
import type { ByteReader, ByteWriter } from "../state/bytes.js";
import type { VenueState } from "../state/venue.js";
import type { Deposit, Vote } from "./deposit-book.js";

export function writeDepositAdditions(w: ByteWriter, { deposits }: VenueState): void {
  const extended = [...deposits.byId.values()].filter(isExtended).sort((a, b) => a.id - b.id);
  if (extended.length === 0 && deposits.paused.size === 0) return;
  w.texts([...deposits.paused].sort());
  w.number(extended.length);
  for (const deposit of extended) {
    w.numbers([deposit.id, deposit.creditedParts, deposit.reorgSettledAtMs]);
    w.texts(deposit.credits.map(({ token }) => token));
    const votes = [...deposit.votes].sort(([a], [b]) => a - b);
    w.numbers(votes.flatMap(([, { part, parts }]) => [part, parts]));
    for (const [, { credits }] of votes) w.texts(credits.map(({ token = "" }) => token));
  }
}

/** Called after the deposits themselves were read; nothing may follow. */
export function readDepositAdditions(r: ByteReader, { deposits }: VenueState): void {
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
    readVotes(r, deposit);
  });
}

function readVotes(r: ByteReader, { votes }: Deposit): void {
  const parts = r.numbers();
  const attestors = [...votes.keys()].sort((a, b) => a - b);
  attestors.forEach((attestor, i) => {
    const tokens = r.texts();
    const vote = votes.get(attestor)!;
    votes.set(attestor, {
      ...vote,
      part: parts[2 * i] ?? 1,
      parts: parts[2 * i + 1] ?? 1,
      credits: vote.credits.map((entry, at) => withToken(entry, tokens[at] ?? "")),
    });
  });
}

function withToken(entry: Vote["credits"][number], token: string): Vote["credits"][number] {
  return token === "" ? entry : { ...entry, token };
}

function isExtended(deposit: Deposit): boolean {
  if (deposit.creditedParts !== 0 || deposit.reorgSettledAtMs !== 0) return true;
  if (deposit.credits.some(({ token }) => token !== "")) return true;
  for (const { part, parts, credits } of deposit.votes.values()) {
    if (part !== 1 || parts !== 1 || credits.some(({ token }) => token !== undefined)) return true;
  }
  return false;
}
