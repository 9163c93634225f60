/**
 * The mirror of a replicated log: a file journal in the data folder that keeps each message of the stream.
 * Everything that reads the past reads the mirror.
 *
 * Batches are applied when the stream delivers them, before the mirror has them on disk: a quorum of the
 * stream's servers has. What the mirror loses in a crash is read from the stream again.
 */
import {
  CLAIM_WINDOW,
  decodeMirrored,
  type FileJournal,
  MIRROR_WRITER,
  type Mirror,
  type Mirrored,
  mirroredId,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";

export class JournalMirror implements Mirror {
  end: number;

  constructor(
    private readonly journal: FileJournal,
    private readonly directory: string,
    /** That many messages are on disk. */
    private readonly onDisk: (messages: number) => void,
  ) {
    this.end = journal.end.batch;
    onDisk(this.end);
  }

  chainTail(): readonly Uint8Array[] {
    const { first } = this.journal.recovery;
    const from = Math.max(first.batch, this.journal.end.batch - CLAIM_WINDOW);
    const tail: Uint8Array[] = [];
    // Copied: the message's bytes would stay in memory with it.
    for (const { chain } of mirroredMessages(this.directory, from, this.journal.end.batch)) {
      tail.push(Uint8Array.from(chain));
    }
    return tail;
  }

  async append(sequence: number, message: Uint8Array): Promise<void> {
    this.end = sequence;
    await this.journal.append(mirroredId(sequence), [message]);
    this.onDisk(sequence);
  }
}

/** The messages of a mirror with batch numbers from `from` to before `until`. */
export function* mirroredMessages(
  directory: string,
  from: number,
  until: number,
): Generator<Mirrored & { readonly sequence: number }> {
  const reader = new SegmentReader(nodeDisk, directory, { batch: from, record: from });
  try {
    for (;;) {
      const { batch } = reader.seq;
      const stored = reader.nextStored(until);
      if (stored === undefined) return;
      const isMirrored = stored.id.writer === MIRROR_WRITER;
      const message = isMirrored ? decodeMirrored(stored.records[0]!) : undefined;
      if (message === undefined) throw new NotAMirror(directory);
      yield { ...message, sequence: batch + 1 };
    }
  } finally {
    reader.close();
  }
}

/** Refuses to continue a mirror as the log of one machine, or such a log as a mirror. */
export function refuseOtherKind(
  { recovery, end }: FileJournal,
  directory: string,
  isReplicated: boolean,
): void {
  const reader = new SegmentReader(nodeDisk, directory, recovery.first);
  try {
    const stored = reader.nextStored(end.batch);
    if (stored === undefined || (stored.id.writer === MIRROR_WRITER) === isReplicated) return;
    if (isReplicated) throw new NotAMirror(directory);
    throw new IsAMirror(directory);
  } finally {
    reader.close();
  }
}

/** The data folder's log is a core's copy of a replicated log. */
export class IsAMirror extends Error {
  override readonly name = "IsAMirror";
  constructor(directory: string) {
    super(`the log in ${directory} is a mirror of a replicated log: start with --log`);
  }
}

/** The data folder's log was written by a venue of one machine. */
export class NotAMirror extends Error {
  override readonly name = "NotAMirror";
  constructor(directory: string) {
    super(`the log in ${directory} is not a mirror of a replicated log`);
  }
}
