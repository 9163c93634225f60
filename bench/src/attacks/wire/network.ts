/**
 * The attacker's network: opens connections from one client address, counts what goes out and comes
 * back, and is over when its time, bytes, writes or connections are used up. Nothing is sent after
 * that, whatever the attack still tries.
 */
import { Line, type LineAddress, type LineOptions, type LineWatcher } from "./line.js";
import type { Recording } from "./recording.js";
import { type Tally, TallyCounter } from "./tally.js";

export interface NetworkLimits {
  readonly bytes: number;
  readonly milliseconds?: number;
  readonly writes?: number;
  readonly connections?: number;
}

const READ_BYTES = 65_536;

export class Network implements LineWatcher {
  /** Resolves when a limit is reached or `stop` is called. */
  readonly over: Promise<void>;
  private readonly counter = new TallyCounter();
  private readonly lines = new Set<Line>();
  private readonly readBuffer = Buffer.allocUnsafe(READ_BYTES);
  private readonly timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private onOver: () => void = () => undefined;

  constructor(
    private readonly address: LineAddress,
    private readonly limits: NetworkLimits,
    /** Gets every step; without one nothing is kept. */
    private readonly recording?: Recording,
  ) {
    this.over = new Promise((resolve) => {
      this.onOver = resolve;
    });
    if (limits.milliseconds !== undefined) {
      this.timer = setTimeout(() => this.stop(), limits.milliseconds);
    }
    recording?.start();
  }

  get isOver(): boolean {
    return this.isStopped;
  }

  /** Lines that are open now. */
  get size(): number {
    return this.lines.size;
  }

  get tally(): Tally {
    return this.counter.result();
  }

  /** Undefined once the network is over, which the first connection too many also causes. */
  open(options: LineOptions): Line | undefined {
    if (this.counter.connections >= (this.limits.connections ?? Number.POSITIVE_INFINITY)) {
      this.stop();
    }
    if (this.isStopped) return undefined;
    const number = this.counter.connections++;
    this.recording?.note(number, "open");
    const line = new Line(number, this.address, options, this.counter, this, this.readBuffer);
    this.lines.add(line);
    return line;
  }

  /** Ends the sending; lines stay open until `close`. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    clearTimeout(this.timer);
    this.onOver();
  }

  /**
   * Ends every line with a FIN and reads what the server still sends. Resolves with the number of
   * lines that the server had not closed in time; these are destroyed.
   */
  async drain(mostMs: number): Promise<number> {
    this.stop();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, mostMs);
    });
    const gone = Array.from(this.lines, (line) => line.finish());
    await Promise.race([Promise.all(gone), deadline]);
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
    this.recording?.noteWrite(line, bytes);
    const { limits, counter } = this;
    const isUsedUp =
      counter.bytesSent >= limits.bytes ||
      counter.writes >= (limits.writes ?? Number.POSITIVE_INFINITY);
    if (isUsedUp) this.stop();
  }

  onEnd(line: number): void {
    this.recording?.note(line, "end");
  }

  onGone(line: Line): void {
    this.lines.delete(line);
    this.recording?.note(line.number, "destroy");
  }
}
