/**
 * The fence (docs/adr/0200-one-writer.md): what a core publishes, and what it accepts.
 *
 * Every publish expects the sequence e of the last message that this core has applied, so the servers store
 * it as message e + 1 or not at all. For one e there is one message, repeated byte for byte until e + 1 is
 * read. What is read there settles it: the own message, or another one, and then the own is in no log and
 * never will be. The answers of the servers are not looked at.
 *
 * A message is accepted only with the chain of the message before it, as this core has it.
 */

import {
  type Batch,
  BatchRefused,
  type CoreLogHooks,
  encodeMessage,
  encodeMirrored,
  MAX_MESSAGE_BYTES,
  type Message,
  type MessageVerdict,
  messageBytes,
  mirroredId,
  type Settled,
} from "@perpgate/journal";
import type { MessageChain } from "./chain.js";
import { ClusterError } from "./errors.js";
import type { Incoming } from "./incoming.js";
import { type Judgement, judgeMessage } from "./judge.js";

export interface FencePorts {
  /** Sends a message that the servers must store after this sequence, or not at all. */
  publish(message: Uint8Array, expectedLast: number): void;
  /** Keeps what was accepted. */
  mirror(sequence: number, record: Uint8Array): void;
  readonly blocks: Pick<CoreLogHooks, "lastBlock" | "blockHash">;
  /** `settled`: what became of the own message that was in flight. */
  deliver(batch: Batch, settled: Settled): void;
}

export class Fence {
  private inFlight: Uint8Array | undefined;

  constructor(
    private readonly stream: string,
    /** 32 digits of hex: this run of the process. */
    readonly run: string,
    readonly chain: MessageChain,
    private readonly ports: FencePorts,
  ) {}

  get isInFlight(): boolean {
    return this.inFlight !== undefined;
  }

  /** Publishes a batch after the last message that was accepted; throws while one is in flight. */
  propose(epoch: number, records: readonly Uint8Array[]): void {
    if (this.inFlight !== undefined)
      throw new Error("a message is in flight; propose one at a time");
    const bytes = messageBytes(records);
    if (bytes > MAX_MESSAGE_BYTES) {
      const text = `a message takes ${MAX_MESSAGE_BYTES} bytes at most, this one has ${bytes}`;
      throw new BatchRefused("batch_too_large", text);
    }
    const claim = { seq: this.chain.last, chain: this.chain.head };
    const block = this.ports.blocks.lastBlock();
    const id = { writer: this.run, counter: epoch };
    this.inFlight = encodeMessage({ ...id, claim, block, records, isFenced: true });
    this.repeat();
  }

  /** Publishes what is in flight once more. */
  repeat(): void {
    if (this.inFlight !== undefined) this.ports.publish(this.inFlight, this.chain.last);
  }

  /**
   * Takes message last + 1 into the log, and delivers it.
   *
   * @throws ClusterError if its writer had another log than this core: nothing of it is applied.
   */
  accept(incoming: Incoming): void {
    const { sequence, subject, data } = incoming;
    if (sequence !== this.chain.last + 1) {
      throw new RangeError(`message ${sequence} does not follow ${this.chain.last}`);
    }
    const { verdict, message } = this.judged(incoming);
    const chain = this.chain.append(subject, data);
    this.ports.mirror(sequence, encodeMirrored({ verdict, chain, subject, message: data }));
    const { inFlight } = this;
    this.inFlight = undefined;
    const isOwn = inFlight !== undefined && Buffer.compare(inFlight, data) === 0;
    const settled = inFlight === undefined ? "none" : isOwn ? "stored" : "never";
    this.ports.deliver(batchAt(sequence, verdict, message), settled);
  }

  private judged(incoming: Incoming): Judgement {
    const { sequence } = incoming;
    const judgement = judgeMessage(this.stream, this.chain, incoming, this.ports.blocks);
    const { message, agrees, problem } = judgement;
    if (message?.isFenced !== true || (judgement.verdict === "sound" && agrees !== false)) {
      return judgement;
    }
    const what = problem === "" ? `its writer has another block ${message.block.number}` : problem;
    throw new ClusterError(
      "diverged",
      `message ${sequence}, of a core that led, contradicts this core's log: ${what}; compare the mirrors`,
      { sequence },
    );
  }
}

/** What is delivered for the message at this stream sequence. */
function batchAt(sequence: number, verdict: MessageVerdict, message: Message | undefined): Batch {
  const seq = { batch: sequence - 1, record: sequence - 1 };
  const end = { batch: sequence, record: sequence };
  if (message === undefined) {
    return { id: mirroredId(sequence), seq, end, records: [], isUnfit: true };
  }
  const { writer, counter, records } = message;
  if (verdict !== "sound") return { id: { writer, counter }, seq, end, records: [], isUnfit: true };
  return { id: { writer, counter }, seq, end, records };
}
