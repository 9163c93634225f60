/**
 * The journal publishes batches in the ring and calls `wake`; a committer makes them durable in
 * order and reports it. `InlineCommitter` runs in the calling thread, for tests on a simulated disk
 * and for tools; thread/thread-committer.ts runs in its own thread, for a venue.
 */

import type { CommitRing } from "./commit-ring.js";
import type { Disk } from "./disk.js";
import type { LogSeq } from "./journal.js";
import { pruneLog } from "./log-prune.js";
import { SegmentWriter, type WriterState } from "./segment-writer.js";
import { FileSnapshots } from "./snapshots.js";
import { SpareSegments } from "./spare-segments.js";

export interface CommitEvents {
  /** This many more batches are durable. */
  durable(batches: number): void;
  /** The log failed. Called at most once; nothing becomes durable afterwards. */
  failed(cause: unknown): void;
  /** An attempt to create the next segment ended. A failure matters only once that segment is needed. */
  spareAttempted(failure: Error | undefined): void;
}

export interface PruneRequest {
  readonly below: LogSeq;
  /** Where readings are. */
  readonly readers: readonly LogSeq[];
  /** The durable end. */
  readonly end: LogSeq;
}

export interface Committer {
  /** Something was published. */
  wake(): void;
  /** Removes old segments between commits; resolves with how many. One call at a time. */
  prune(request: PruneRequest): Promise<number>;
  /** Called when nothing is pending; releases files and threads. */
  close(): Promise<void>;
}

export class InlineCommitter implements Committer {
  private readonly writer: SegmentWriter;
  private failed = false;

  constructor(
    private readonly disk: Disk,
    private readonly state: WriterState,
    segmentBytes: number,
    private readonly ring: CommitRing,
    private readonly events: CommitEvents,
  ) {
    const spares = new SpareSegments(disk, state.directory, segmentBytes);
    this.writer = new SegmentWriter(disk, state, spares, (bytes, batches) => {
      ring.release(bytes, batches);
    });
  }

  wake(): void {
    if (this.failed) return;
    const before = this.ring.durable();
    let failure: { readonly cause: unknown } | undefined;
    try {
      for (let run = this.ring.take(); run !== undefined; run = this.ring.take()) {
        this.writer.commit(run);
      }
    } catch (cause) {
      this.failed = true;
      failure = { cause };
    }
    const batches = (this.ring.durable() - before) >>> 0;
    if (batches > 0) this.events.durable(batches);
    if (failure !== undefined) this.events.failed(failure.cause);
  }

  async prune({ below, readers, end }: PruneRequest): Promise<number> {
    const { directory, logId } = this.state;
    const snapshots = new FileSnapshots(this.disk, directory, logId);
    return pruneLog(this.disk, directory, below, { snapshots, readers, end });
  }

  async close(): Promise<void> {
    this.writer.close();
  }
}
