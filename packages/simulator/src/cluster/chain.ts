/** The chain over the messages of the stream, by its rule: c(q) = SHA-256(c(q−1) ‖ subject ‖ message). */
import { createHash } from "node:crypto";
import {
  type Batch,
  batchOf,
  CHAIN_BYTES,
  decodeMessage,
  type Message,
  mirroredId,
} from "@perpgate/journal";
import type { ModelMessage } from "./model-stream.js";

const START = new Uint8Array(CHAIN_BYTES);

interface Judged {
  readonly batch: Batch;
  readonly message: Message | undefined;
  /** False: the writer had another log than this reader. */
  readonly isSound: boolean;
}

interface Link {
  /** The chain before the message. */
  readonly before: Uint8Array;
  readonly value: Uint8Array;
  readonly message: Message | undefined;
}

/** By message, for the readers that have the same log before it: nearly all of them. */
const links = new WeakMap<ModelMessage, Link>();

function linkOf(before: Uint8Array, stored: ModelMessage): Link {
  const known = links.get(stored);
  if (known?.before === before) return known;
  const { writer, bytes } = stored;
  const subject = `venue.log.${writer}`;
  const value = createHash("sha256").update(before).update(subject).update(bytes).digest();
  const link = { before, value, message: decodeMessage(bytes) };
  links.set(stored, link);
  return link;
}

export class ChainedReader {
  private readonly values: Uint8Array[];

  constructor(
    values: readonly Uint8Array[] = [START],
    /** The message at its end. */
    public lastRead?: ModelMessage,
  ) {
    this.values = [...values];
  }

  get last(): number {
    return this.values.length - 1;
  }

  get head(): Uint8Array {
    return this.values[this.last]!;
  }

  copy(): ChainedReader {
    return new ChainedReader(this.values, this.lastRead);
  }

  /** Judges the next message and adds it. */
  next(stored: ModelMessage): Judged {
    const { sequence, bytes } = stored;
    if (sequence !== this.last + 1) throw new Error(`${sequence} follows ${this.last}`);
    this.lastRead = stored;
    const { message, value } = linkOf(this.head, stored);
    const isSound = message !== undefined && this.agreesWith(message);
    this.values.push(value);
    const verdict = message === undefined ? "malformed" : isSound ? "sound" : "chain";
    const at = { batch: sequence - 1, record: sequence - 1 };
    const end = { batch: sequence, record: sequence };
    const batch = batchOf({ verdict, message: bytes }, { id: mirroredId(sequence), seq: at, end });
    return { batch, message, isSound };
  }

  private agreesWith({ claim }: Message): boolean {
    const known = this.values[claim.seq];
    return known !== undefined && Buffer.compare(known, claim.chain) === 0;
  }
}
