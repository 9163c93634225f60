/**
 * Recomputes what the venue owed at each mark of the log, and compares it with what it committed to: the sum and the
 * number of accounts from the log alone, the root with the key of the salts.
 */
import { existsSync, readFileSync } from "node:fs";
import type { CommitReserves } from "@perpgate/engine";
import type { VenueState } from "@perpgate/engine/reading";
import { refusalIn } from "../event-fields.js";
import { LogKeyUnreadable, readLogKey } from "../receipts/log-key.js";
import type { DataFolder } from "../recovery/data-folder.js";
import type { Applied } from "../replica.js";
import { HourMarks } from "../reserves/hours.js";
import { commitsReserves, liabilitiesOf, sumOf } from "../reserves/liabilities.js";
import { reservesKeyOf } from "../reserves/reserves-book.js";
import { sumTreeOf } from "../reserves/sum-tree-file.js";

export interface ReservesReport {
  /** Commitments that agree. */
  readonly commitments: number;
  /** How many of them also by their root. */
  readonly roots: number;
}

interface Counted {
  readonly sumMicros: number | undefined;
  readonly leaves: number;
  readonly root: string | undefined;
}

export class ReservesCheck {
  private commitments = 0;
  private roots = 0;
  private readonly marks: HourMarks;
  private readonly firstSeq: number;
  private readonly counted = new Map<number, Counted>();

  constructor(
    private readonly state: VenueState,
    private readonly key: Uint8Array | undefined,
  ) {
    this.marks = new HourMarks(state.timeMs);
    this.firstSeq = state.seq;
  }

  /** After each command: what is wrong with a commitment, or null. */
  onCommand({ seq, timeMs, command, events }: Applied): string | null {
    if (this.marks.isMark(timeMs) && commitsReserves(this.state)) this.count(seq);
    if (command.kind !== "CommitReserves" || refusalIn(events) !== "") return null;
    return this.compare(command);
  }

  report(): ReservesReport {
    return { commitments: this.commitments, roots: this.roots };
  }

  private count(position: number): void {
    const liabilities = liabilitiesOf(this.state);
    const sumMicros = sumOf(liabilities);
    const root =
      this.key === undefined || sumMicros === undefined
        ? undefined
        : sumTreeOf(this.key, position, liabilities).root;
    this.counted.set(position, { sumMicros, leaves: liabilities.addresses.length, root });
  }

  private compare({ position, sumMicros, leaves, root }: CommitReserves): string | null {
    const own = this.counted.get(position);
    // A pruned log does not show what was owed before its snapshot.
    if (own === undefined && position <= this.firstSeq) return null;
    if (own === undefined) return `reserves: ${position} is no position at which they are counted`;
    if (own.sumMicros !== sumMicros) {
      return `reserves: ${sumMicros} micro-dollars committed, ${own.sumMicros} owed after ${position}`;
    }
    if (own.leaves !== leaves)
      return `reserves: ${leaves} leaves committed, ${own.leaves} accounts`;
    if (own.root !== undefined && own.root !== root) {
      return `reserves: the root committed is ${root}, that of the accounts ${own.root}`;
    }
    this.commitments++;
    if (own.root !== undefined) this.roots++;
    return null;
  }
}

/** From the log's key in the folder; undefined if it is elsewhere, or was another when the log began. */
export function reservesKeyIn({ logKey, logSuccessors }: DataFolder): Uint8Array | undefined {
  if (existsSync(logSuccessors) || !existsSync(logKey)) return undefined;
  try {
    return reservesKeyOf(readLogKey(readFileSync(logKey, "utf8")));
  } catch (error) {
    if (error instanceof LogKeyUnreadable) return undefined;
    throw error;
  }
}
