/** The configured witnesses: all are asked concurrently; one that fails is left out for a growing while. */
import type { VenueLogger } from "../venue-options.js";
import { type Submission, Witness, type WitnessAnswer, type WitnessSetting } from "./witness.js";

interface Question extends Submission {
  /** Sealed blocks of this log that a witness may have seen. */
  blocks(): number;
  /** Resolves once `blocks` counts all that other gateways have signed before the call. */
  caughtUp(): Promise<void>;
}

interface PanelAnswer {
  /** Whether a witness answered, in any way. */
  readonly isAnswered: boolean;
  readonly lines: readonly { readonly name: string; readonly line: string }[];
  /** What a witness has seen that this log never signed; null if there is nothing. */
  readonly conflict: Conflict | null;
}

interface Conflict {
  readonly reason: string;
  /** Checkpoints over that many blocks or more are contradicted. */
  readonly fromSize: number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** What became of the checkpoints that a witness was asked to cosign, since the start. */
export interface WitnessCounts {
  readonly name: string;
  readonly cosigned: number;
  readonly failed: number;
  /** Unix milliseconds; null before the first. */
  readonly lastCosignedAt: number | null;
}

interface Member {
  readonly witness: Witness;
  cosigned: number;
  failed: number;
  lastCosignedAt: number | null;
  /** In a row. */
  failures: number;
  /** Not asked before this time of `performance.now`. */
  pausedUntil: number;
}

interface OneAnswer {
  readonly line?: PanelAnswer["lines"][number];
  readonly conflict?: Conflict;
}

export class WitnessPanel {
  private readonly members: readonly Member[];

  constructor(
    settings: readonly WitnessSetting[],
    private readonly logger: VenueLogger,
    private readonly signal: AbortSignal,
  ) {
    this.members = settings.map((setting) => ({
      witness: new Witness(setting),
      cosigned: 0,
      failed: 0,
      lastCosignedAt: null,
      failures: 0,
      pausedUntil: 0,
    }));
  }

  get isEmpty(): boolean {
    return this.members.length === 0;
  }

  get counts(): readonly WitnessCounts[] {
    return this.members.map(({ witness: { name }, cosigned, failed, lastCosignedAt }) => {
      return { name, cosigned, failed, lastCosignedAt };
    });
  }

  async ask(question: Question): Promise<PanelAnswer> {
    const now = performance.now();
    const asked = this.members.filter(({ pausedUntil }) => pausedUntil <= now);
    const answers = await Promise.all(asked.map((member) => this.askOne(member, question)));
    return {
      isAnswered: answers.some((answer) => answer !== undefined),
      lines: answers.flatMap((answer) => (answer?.line === undefined ? [] : [answer.line])),
      conflict: answers
        .flatMap((answer) => answer?.conflict ?? [])
        .reduce<Conflict | null>(
          (lowest, each) => (lowest === null || each.fromSize < lowest.fromSize ? each : lowest),
          null,
        ),
    };
  }

  /** Undefined if the witness failed to answer. */
  private async askOne(member: Member, question: Question): Promise<OneAnswer | undefined> {
    const { witness } = member;
    const answer = await this.answerOf(witness, question);
    if (answer.kind === "failed") {
      if (!this.signal.aborted) this.pause(member, answer.reason);
      return undefined;
    }
    member.failures = 0;
    switch (answer.kind) {
      case "cosigned":
        member.cosigned++;
        member.lastCosignedAt = Date.now();
        return { line: { name: witness.name, line: answer.line } };
      case "ahead":
        // Another gateway has shown it more, of blocks that this one has too: the next one continues it.
        if (answer.size <= question.blocks()) return {};
        return {
          conflict: {
            reason: `witness ${witness.name} has seen ${answer.size} blocks of this log`,
            fromSize: answer.size,
          },
        };
      case "inconsistent":
        return {
          conflict: {
            reason: `witness ${witness.name} has seen another history of this log`,
            fromSize: answer.size,
          },
        };
    }
  }

  /** Catches up first if the witness has seen more blocks than this gateway has applied. */
  private async answerOf(witness: Witness, question: Question): Promise<WitnessAnswer> {
    const answer = await witness.submit(question, this.signal);
    if (answer.kind !== "ahead" || answer.size <= question.blocks()) return answer;
    try {
      await question.caughtUp();
      return answer;
    } catch {
      return { kind: "failed", reason: "it is ahead, and this gateway could not catch up" };
    }
  }

  private pause(member: Member, reason: string): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** member.failures);
    member.failures++;
    member.failed++;
    member.pausedUntil = performance.now() + pauseMs;
    const witness = member.witness.name;
    if (member.failures === 1) this.logger.warn({ witness, reason }, "a witness did not cosign");
  }
}
