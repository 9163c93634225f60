/**
 * Recomputes what the venue owed at each mark of the log, and compares it with what it committed to: the sum and the
 * number of accounts from the log alone, the root with the key of the salts.
 */
import { existsSync, readFileSync } from "node:fs";
import type { CommitReserves } from "@perpgate/engine";
import { refusalIn } from "../event-fields.js";
import { LogKeyUnreadable, readLogKey } from "../receipts/log-key.js";
import { gatewaysByLogKey } from "../receipts/receipt-key.js";
import type { DataFolder } from "../recovery/data-folder.js";
import type { ReplicaState } from "../recovery/replica-state.js";
import type { Applied } from "../replica.js";
import { CountMarks } from "../reserves/count-marks.js";
import { commitsReserves, liabilitiesOf, sumOf } from "../reserves/liabilities.js";
import { type ReservesKey, reservesKeyOf } from "../reserves/reserves-key.js";
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
  private readonly marks: CountMarks;
  private readonly firstSeq: number;
  private readonly counted = new Map<number, Counted>();

  constructor(
    private readonly replica: ReplicaState,
    private readonly key: ReservesKey | undefined,
  ) {
    const { timeMs, seq } = replica.engine.state;
    this.marks = new CountMarks(timeMs);
    this.firstSeq = seq;
  }

  /** After each command: what is wrong with a commitment, or null. */
  onCommand(applied: Applied): string | null {
    const { seq, command, events } = applied;
    if (this.marks.isMark(applied) && commitsReserves(this.replica.engine.state)) this.count(seq);
    if (command.kind !== "CommitReserves" || refusalIn(events) !== "") return null;
    return this.compare(command);
  }

  report(): ReservesReport {
    return { commitments: this.commitments, roots: this.roots };
  }

  private count(position: number): void {
    const liabilities = liabilitiesOf(this.replica.engine.state);
    const sumMicros = sumOf(liabilities);
    const root =
      this.key === undefined || sumMicros === undefined
        ? undefined
        : sumTreeOf(this.key.secret, position, liabilities).root;
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
    const isSameKey = own.root !== undefined && this.isOfKey();
    if (isSameKey && own.root !== root) {
      return `reserves: the root committed is ${root}, that of the accounts ${own.root}`;
    }
    this.commitments++;
    if (isSameKey) this.roots++;
    return null;
  }

  /** Whether a gateway that lives now has the folder's log key: before it was replaced, the salts were others. */
  private isOfKey(): boolean {
    const { engine, listing } = this.replica;
    const { logKey } = this.key ?? {};
    return logKey !== undefined && gatewaysByLogKey(engine.state, listing, logKey).own.length > 0;
  }
}

/** From the log's key in the folder; undefined if it is elsewhere. */
export function reservesKeyIn({ logKey }: DataFolder): ReservesKey | undefined {
  if (!existsSync(logKey)) return undefined;
  try {
    return reservesKeyOf(readLogKey(readFileSync(logKey, "utf8")));
  } catch (error) {
    if (error instanceof LogKeyUnreadable) return undefined;
    throw error;
  }
}
