/**
 * Readiness of a process's attestors, by their polls and the age of the chain's head. A failing RPC
 * endpoint does not make the process unready; it has its own metrics.
 */

import type { Chain } from "@perpgate/protocol";
import type { BridgeEvent, PollSubject } from "./bridge-event.js";

/** Unready after failing for this long. */
const FAILING_MS = 60_000;
/** Longer than the longest poll with all its time-outs. */
const SILENT_MS = 600_000;

/** What a process watches; a bridge's configuration fits. */
interface Watched {
  readonly attestors: readonly { readonly index: number }[];
  readonly chains: readonly { readonly chain: Chain }[];
  /** Set: withdrawals are watched, too. */
  readonly signing?: object | undefined;
}

interface PollHealth {
  readonly of: PollSubject;
  readonly chain: Chain;
  /** End of the last successful poll; initially the start. */
  goodAtMs: number;
  endedAtMs: number;
  reason: string | undefined;
  /** Set while the head is old. */
  headAgeMs: number | undefined;
}

export class AttestorHealth {
  /** Of each attestor on each chain: deposits, withdrawals, and the vault's requests. */
  private readonly polls: ReadonlyMap<string, PollHealth>;

  constructor(
    { attestors, chains, signing }: Watched,
    private readonly clock: () => number,
    /** `polls`: neither an old head nor a configuration that differs is a reason. */
    private readonly by: "polls and heads" | "polls" = "polls and heads",
  ) {
    const nowMs = clock();
    const subjects = signing === undefined ? ["deposits" as const] : SUBJECTS;
    const fresh = (of: PollSubject, chain: Chain): PollHealth => ({
      of,
      chain,
      goodAtMs: nowMs,
      endedAtMs: nowMs,
      reason: undefined,
      headAgeMs: undefined,
    });
    this.polls = new Map(
      attestors.flatMap(({ index }) =>
        chains.flatMap(({ chain }) =>
          subjects.map((of) => [keyOf(index, chain, of), fresh(of, chain)] as const),
        ),
      ),
    );
  }

  observe(event: BridgeEvent): void {
    if (!("attestor" in event)) return;
    const health = this.polls.get(keyOf(event.attestor, event.chain, subjectOf(event)));
    if (health === undefined) return;
    const nowMs = this.clock();
    switch (event.kind) {
      case "Polled":
        health.goodAtMs = nowMs;
        health.endedAtMs = nowMs;
        health.reason = undefined;
        if (event.headAgeMs === null || this.by === "polls") return;
        health.headAgeMs = event.isHeadOld ? event.headAgeMs : undefined;
        return;
      case "WithdrawalsPolled":
        health.goodAtMs = nowMs;
        health.endedAtMs = nowMs;
        health.reason = undefined;
        return;
      case "PollFailed":
        health.endedAtMs = nowMs;
        health.reason = event.error instanceof Error ? event.error.message : String(event.error);
        return;
      case "ConfigurationDiffers":
        health.endedAtMs = nowMs;
        // The poll itself succeeded: an earlier failure is no reason either.
        if (this.by === "polls") health.goodAtMs = nowMs;
        health.reason = this.by === "polls" ? undefined : event.difference;
    }
  }

  /** Why deposits or withdrawals of some chain are not attested, or undefined. */
  notReadyReason(): string | undefined {
    const nowMs = this.clock();
    for (const { of, chain, goodAtMs, endedAtMs, reason, headAgeMs } of this.polls.values()) {
      if (reason !== undefined && nowMs - goodAtMs > FAILING_MS) {
        return `${of} of ${chain} are not ${DONE[of]}: ${reason}`;
      }
      if (nowMs - endedAtMs > SILENT_MS) {
        const seconds = Math.round((nowMs - endedAtMs) / 1_000);
        return `${of} of ${chain} are not ${DONE[of]}: no poll has ended for ${seconds} s`;
      }
      if (headAgeMs !== undefined) {
        const seconds = Math.round(headAgeMs / 1_000);
        return `${of} of ${chain} are not attested: the newest block of enough RPC endpoints is ${seconds} s old`;
      }
    }
    return undefined;
  }
}

const SUBJECTS = ["deposits", "withdrawals", "requests"] as const;

const DONE = { deposits: "attested", withdrawals: "attested", requests: "watched" } as const;

function subjectOf(event: BridgeEvent): PollSubject {
  return event.kind === "PollFailed" || event.kind === "WithdrawalsPolled" ? event.of : "deposits";
}

function keyOf(attestor: number, chain: Chain, of: PollSubject): string {
  return `${attestor} ${chain} ${of}`;
}
