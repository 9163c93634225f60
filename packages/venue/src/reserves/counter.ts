/**
 * In the replica that makes the store's rows: counts what the venue owes at each mark, writes the tree, and
 * compares each commitment in the log with the own count of that position.
 */

import { refusalIn } from "../event-fields.js";
import { gatewaysByLogKey } from "../receipts/receipt-key.js";
import type { ReplicaState } from "../recovery/replica-state.js";
import type { Applied } from "../replica.js";
import { CountMarks } from "./count-marks.js";
import { commitsReserves, liabilitiesOf } from "./liabilities.js";
import type { ReservesKey } from "./reserves-key.js";
import type { TreeHead } from "./sum-tree-file.js";
import { TreeFolder } from "./tree-folder.js";

export type ReservesNotice =
  /** A tree is on the disk. */
  | { readonly kind: "counted"; readonly tree: TreeHead }
  /** A balance below zero, or a sum of 2^53 and more: there is no tree. */
  | { readonly kind: "uncountable"; readonly position: number }
  /** The log has another commitment than this replica's count. */
  | { readonly kind: "differs"; readonly position: number; readonly reason: string };

export class ReservesCounter {
  private readonly marks: CountMarks;
  private readonly trees: TreeFolder;
  private readonly logKey: Uint8Array;

  constructor(
    private readonly state: ReplicaState,
    { folder, key }: { readonly folder: string; readonly key: ReservesKey },
    private readonly report: (notice: ReservesNotice) => void,
    /** Earlier hours are not counted again. */
    private readonly fromMs = 0,
  ) {
    this.marks = new CountMarks(state.engine.state.timeMs);
    this.logKey = key.logKey;
    this.trees = new TreeFolder(folder, key.secret);
  }

  /** After each command. */
  onCommand(applied: Applied): void {
    const { seq: position, timeMs } = applied;
    this.compare(applied);
    const { state } = this.state.engine;
    if (!this.marks.isMark(applied) || timeMs < this.fromMs || !commitsReserves(state)) return;
    const tree = this.trees.write({ position, timeMs }, liabilitiesOf(state));
    this.report(tree === undefined ? { kind: "uncountable", position } : { kind: "counted", tree });
  }

  private compare({ command, events }: Applied): void {
    if (command.kind !== "CommitReserves" || refusalIn(events) !== "") return;
    const { position, root, sumMicros, leaves } = command;
    const own = this.trees.head(position);
    // Before the snapshot that this replica began with, or older than the trees that are kept.
    if (own === undefined) return;
    const isSameSum = own.sumMicros === sumMicros && own.leaves === leaves;
    if (isSameSum && (own.root === root || this.isOfEarlierKey())) return;
    const reason = `${sumMicros} micro-dollars of ${leaves} under ${root}, and here ${own.sumMicros} of ${own.leaves} under ${own.root}`;
    this.report({ kind: "differs", position, reason });
  }

  /** Whether the gateways of that time had another log key, which was replaced: their salts were others. */
  private isOfEarlierKey(): boolean {
    const { engine, listing } = this.state;
    const { own, other } = gatewaysByLogKey(engine.state, listing, this.logKey);
    return own.length === 0 && other.length > 0;
  }
}
