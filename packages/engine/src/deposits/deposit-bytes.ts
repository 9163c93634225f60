/** Deposits and the votes on them as bytes, ascending id. */
import type { ByteReader, ByteWriter } from "../state/bytes.js";
import type { VenueState } from "../state/venue.js";
import type { Deposit, DepositStatus, Vote } from "./deposit-book.js";
import { awaitDevCredit, depositKey } from "./deposit-commands.js";

const STATUSES: readonly DepositStatus[] = ["queued", "confirming", "credited", "rejected"];
const VERDICTS: readonly Vote["verdict"][] = ["confirming", "credit", "reject", "reorged"];

export function writeDeposits(w: ByteWriter, s: VenueState): void {
  const deposits = [...s.deposits.byId.values()].sort((a, b) => a.id - b.id);
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
    const votes = [...deposit.votes].sort(([a], [b]) => a - b);
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

export function readDeposits(r: ByteReader, s: VenueState): void {
  r.repeat(() => {
    const [id, registrant, registeredAtMs, settledAtMs, status, confirmations, required] =
      r.numbers();
    const [chain, txHash, token, reason, reorged] = r.texts();
    const credits = r.numbers();
    const votes = new Map<number, Vote>();
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
    const deposit: Deposit = {
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
    const isDev = s.config?.attestorKind === "dev";
    s.deposits.add(
      depositKey(isDev ? deposit.registrant : 0, deposit.chain, deposit.txHash),
      deposit,
    );
    if (isDev && deposit.status === "queued") awaitDevCredit(s, deposit);
  });
}
