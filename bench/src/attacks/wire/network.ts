/**
 * The attacker's network: opens connections from one client address, counts what goes out and comes
 * back, and is over when its time, bytes, writes or connections are used up. After that it sends
 * nothing, whatever the attack still tries.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { GatewayAddress } from "../../harness/http.js";
import { AttackLine, type LineOptions, newTally, type Tally } from "./line.js";

export interface NetworkLimits {
  readonly bytes: number;
  readonly milliseconds?: number;
  readonly writes?: number;
  readonly connections?: number;
}

/** What a line did, and when. Buffers are kept by reference: attacks build them once. */
export interface WireStep {
  readonly atMs: number;
  readonly line: number;
  readonly act: "open" | "write" | "end" | "destroy";
  readonly bytes?: Buffer;
}

const READ_BYTES = 65_536;
const UNLIMITED = Number.POSITIVE_INFINITY;

export class AttackNetwork {
  /** Resolves when a limit is reached or `stop` is called. */
  readonly over: Promise<void>;
  readonly tally = newTally();
  private readonly lines = new Set<AttackLine>();
  /** All lines read into it. */
  readonly readBuffer = Buffer.allocUnsafe(READ_BYTES);
  private readonly startedMs = performance.now();
  private readonly timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private onOver: () => void = () => undefined;

  constructor(
    private readonly address: GatewayAddress,
    private readonly limits: NetworkLimits,
    /** Receives every step. */
    private readonly steps?: WireStep[],
  ) {
    this.over = new Promise((resolve) => {
      this.onOver = resolve;
    });
    if (limits.milliseconds !== undefined) {
      this.timer = setTimeout(() => this.stop(), limits.milliseconds);
    }
  }

  get isOver(): boolean {
    return this.isStopped;
  }

  /** Lines that are open now. */
  get size(): number {
    return this.lines.size;
  }

  /** Undefined once the network is over; opening one line too many ends it. */
  open(options: LineOptions): AttackLine | undefined {
    if (this.tally.connections >= (this.limits.connections ?? UNLIMITED)) this.stop();
    if (this.isStopped) return undefined;
    const number = this.tally.connections++;
    this.record({ line: number, act: "open" });
    const line = new AttackLine(number, this.address, options, this);
    this.lines.add(line);
    return line;
  }

  /** Ends the sending; lines stay open until `close`. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.onOver();
  }

  /**
   * Ends every line with a FIN and reads what the server still sends. Resolves with the number of
   * lines that the server had not closed in time; these are destroyed.
   */
  async drain(withinMs: number): Promise<number> {
    this.stop();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    const closed = Array.from(this.lines, (line) => line.finish());
    await Promise.race([Promise.all(closed), deadline]);
    clearTimeout(timer);
    const left = this.lines.size;
    this.close();
    return left;
  }

  /** Destroys every line. */
  close(): void {
    this.stop();
    for (const line of this.lines) line.destroy();
  }

  onWrite(line: number, bytes: Buffer): void {
    this.record({ line, act: "write", bytes });
    const { limits, tally } = this;
    if (tally.bytesSent >= limits.bytes || tally.writes >= (limits.writes ?? UNLIMITED))
      this.stop();
  }

  onEnd(line: number): void {
    this.record({ line, act: "end" });
  }

  onGone(line: AttackLine): void {
    this.lines.delete(line);
    this.record({ line: line.number, act: "destroy" });
  }

  private record(step: Omit<WireStep, "atMs">): void {
    this.steps?.push({ ...step, atMs: performance.now() - this.startedMs });
  }
}

const STEPS_PER_TURN = 64;

/** Sends recorded bytes over the same number of connections at the same times. */
export async function replay(
  steps: readonly WireStep[],
  address: GatewayAddress,
  lastsMs: number,
): Promise<Tally> {
  const network = new AttackNetwork(address, { bytes: UNLIMITED });
  const lines = new Map<number, AttackLine | undefined>();
  const take = ({ line: number, act, bytes }: WireStep): void => {
    const line = lines.get(number);
    if (act === "open") lines.set(number, network.open({}));
    else if (bytes !== undefined) line?.write(bytes);
    else if (act === "end") line?.end();
    else {
      line?.destroy();
      lines.delete(number);
    }
  };
  const startedMs = performance.now();
  for (let at = 0; at < steps.length; ) {
    const elapsedMs = performance.now() - startedMs;
    // A few steps per event-loop turn, so that sockets make progress when the schedule is late.
    const end = Math.min(at + STEPS_PER_TURN, steps.length);
    while (at < end && Math.min(steps[at]!.atMs, lastsMs) <= elapsedMs) take(steps[at++]!);
    const nextMs = Math.min(steps[at]?.atMs ?? 0, lastsMs) - elapsedMs;
    if (nextMs > 2) await sleep(nextMs - 1);
    else await nextTurn();
  }
  await sleep(Math.max(0, startedMs + lastsMs - performance.now()));
  network.close();
  return network.tally;
}
