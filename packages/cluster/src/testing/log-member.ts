/**
 * A core reduced to its log, for tests of the log alone: it applies the engine's rule of epochs in its
 * simplest form, writes numbered texts while it leads, and keeps a mirror in memory.
 */

import { randomBytes } from "node:crypto";
import type { Batch, CoreLogHooks, Settled } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { FencedLog, type FencedLogOptions } from "../fenced-log.js";
import { MemoryMirror } from "./memory-mirror.js";

const CLAIM = "claim ";
const TICK_MS = 200;
const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };
const ONE_BLOCK = { lastBlock: () => NO_BLOCK, blockHash: () => NO_BLOCK.hash };

export class LogMember {
  readonly run = randomBytes(16).toString("hex");
  readonly lines: string[] = [];
  /** By text, the sequence of its message: what clients would have been answered. */
  readonly acknowledged = new Map<string, number>();
  /** Batches of another epoch, which the fence keeps out. */
  drops = 0;
  epoch = 0;
  leader = "";
  /** Set when the log stopped. */
  stopped: Error | undefined;
  log!: FencedLog;
  private readonly pending: string[] = [];
  private inFlight: readonly string[] = [];
  private proposedAtMs = 0;
  /** What was given up because another core leads. */
  readonly refused = new Set<string>();

  private constructor(
    readonly core: string,
    readonly mirror: MemoryMirror,
  ) {}

  static async start(
    options: Pick<FencedLogOptions, "servers" | "stream" | "rank"> & Partial<FencedLogOptions>,
    mirror = new MemoryMirror(),
    blocks: Pick<CoreLogHooks, "lastBlock" | "blockHash"> = ONE_BLOCK,
  ): Promise<LogMember> {
    const member = new LogMember(`core-${options.rank + 1}`, mirror);
    for (const [index] of mirror.records.entries()) member.apply(mirror.batchAt(index + 1));
    member.log = await FencedLog.open({
      name: "test",
      core: member.core,
      run: member.run,
      versions: [3, 3],
      release: "test",
      logger: {
        info: (text) => member.lines.push(text),
        warn: (text) => member.lines.push(text),
      },
      hooks: {
        ...blocks,
        room: () => undefined,
        leader: () => ({ epoch: member.epoch, run: member.leader }),
        claim: () => {
          const counter = member.epoch + 1;
          return { counter, records: [Buffer.from(`${CLAIM}${counter}`)] };
        },
        isReady: () => true,
        edges: () => 0,
        mayPropose: () => member.propose(),
      },
      patienceMs: 30_000,
      ...options,
      mirror,
    });
    void member.log.stopped.then((error) => {
      member.stopped = error;
    });
    await member.log.start((batch, settled) => member.deliver(batch, settled));
    return member;
  }

  get leads(): boolean {
    return this.stopped === undefined && this.log.leads;
  }

  submit(text: string): void {
    this.pending.push(text);
    this.propose();
  }

  /** Resolves with the sequence of the message that has the text, once this core has read it. */
  async written(text: string): Promise<number> {
    this.submit(text);
    return until(() => this.acknowledged.get(text));
  }

  private propose(): void {
    if (!this.log.mayPropose) return;
    const nowMs = performance.now();
    if (this.pending.length === 0 && nowMs - this.proposedAtMs < TICK_MS) return;
    this.proposedAtMs = nowMs;
    this.inFlight = this.pending.splice(0, 32);
    this.log.propose(this.inFlight.map((text) => Buffer.from(text)));
  }

  private deliver(batch: Batch, settled: Settled): void {
    const mine = this.inFlight;
    this.inFlight = [];
    this.apply(batch);
    const isLeading = this.leader === this.run;
    for (const text of mine) {
      if (settled === "stored") this.acknowledged.set(text, batch.end.batch);
      else if (isLeading) this.pending.push(text);
      else this.refused.add(text);
    }
    if (isLeading) return;
    for (const text of this.pending.splice(0)) this.refused.add(text);
  }

  private apply({ id, records, isUnfit }: Batch): void {
    if (isUnfit === true) return;
    const isClaim = Buffer.from(records[0] ?? "")
      .toString()
      .startsWith(CLAIM);
    if (isClaim && id.counter === this.epoch + 1) {
      this.epoch = id.counter;
      this.leader = id.writer;
    } else if (id.counter !== this.epoch || id.writer !== this.leader) this.drops++;
  }
}
