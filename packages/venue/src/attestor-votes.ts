/**
 * Appends attestors' votes to the log, each with its text, signature and key as evidence. A vote is appended
 * only if the state allows it, and it says something new. The caller has checked its shape and its membership.
 *
 * A vote counts once: a repetition, which anyone who saw the vote can send, leaves no trace in the log.
 */
import type { Command } from "@perpgate/engine";
import type { Venue } from "./venue.js";

/** How far an attestor's clock may be ahead: a vote of the far future could never be replaced. */
const MAX_CLOCK_LEAD_MS = 60_000;

/** `known`: the log has this vote. Any other word is the reason why the vote does not count. */
export type VoteJudgement = "new" | "known" | string;

interface AttestorVote {
  readonly attestor: number;
  readonly votedAtMs: number;
}

export abstract class AttestorVotes<V extends AttestorVote> {
  /** Votes that are not yet durable, by signature. */
  private readonly inFlight = new Map<string, Promise<string | null>>();

  constructor(protected readonly venue: Venue) {}

  /** Judges a vote by the state alone. */
  abstract judge(vote: V): VoteJudgement;

  /** What its attestor has signed. */
  protected abstract textOf(vote: V): string;
  protected abstract commandOf(vote: V): Command;

  /**
   * Returns null, or why the vote does not count; a promise if it goes to the log. `signedBy` is the
   * public key in hex that its signature was checked with; the attestor may have another now. `spend`
   * takes a vote from its attestor's budget and is called only for a vote that would be appended: repeating a
   * member's published votes must not use up its budget.
   */
  append(
    vote: V,
    signature: string,
    signedBy: string | undefined,
    spend: () => boolean = () => true,
  ): Promise<string | null> | string | null {
    const inFlight = this.inFlight.get(signature);
    if (inFlight !== undefined) return inFlight;
    // Judged in the same turn as it is submitted: the state may have moved since an earlier look.
    const judged = this.judge(vote);
    if (judged !== "new") return judged === "known" ? null : judged;
    const member = this.venue.listing.attestors?.members[vote.attestor];
    if (member === undefined || member !== signedBy) return "invalid_signature";
    if (!spend()) return "rate_limited";
    const done = this.submit(vote, signature, member).finally(() =>
      this.inFlight.delete(signature),
    );
    this.inFlight.set(signature, done);
    return done;
  }

  /** Why a vote on what began at that time does not count; undefined if its time is no reason. */
  protected timeFault({ votedAtMs }: V, beganAtMs: number): VoteJudgement | undefined {
    // Remote attestors stamp by their wall clock, those of this process by the venue's time.
    const [nowMs, wallMs] = [this.venue.nowMs(), this.venue.wallMs()];
    if (votedAtMs > Math.max(nowMs, wallMs) + MAX_CLOCK_LEAD_MS) return "vote_from_future";
    const logAheadMs = Math.max(0, nowMs - wallMs);
    return votedAtMs < beganAtMs - logAheadMs ? "vote_outdated" : undefined;
  }

  private submit(vote: V, signature: string, member: string): Promise<string | null> {
    const evidence = {
      signed: Buffer.from(this.textOf(vote), "latin1"),
      signature: Buffer.from(signature, "hex"),
      publicKey: Buffer.from(member, "hex"),
    };
    return this.venue.submitted(this.commandOf(vote), evidence, (applied) => {
      const outcome = this.venue.views.outcome(applied);
      return outcome.kind === "refused" ? outcome.refusal : null;
    });
  }
}
