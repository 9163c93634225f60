/**
 * One log line per answered request, refusals sampled.
 *
 * What succeeded is logged at `debug`: a running testnet answers its own bots several times a
 * second. What was refused is logged at `info`, but a client decides how often that happens, so only
 * the first few refusals of a second are written out; the rest are counted, and one line a second
 * says how many. The metrics count all of them.
 */

import type { FastifyBaseLogger } from "fastify";

export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly elapsedMs: number;
}

const SECOND_MS = 1_000;
/** Refusals that one second may write out in full. */
export const LINES_PER_SECOND = 10;

export class RequestLog {
  private windowStartMs = Number.NEGATIVE_INFINITY;
  private written = 0;
  private suppressed = 0;
  private summary: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Pick<FastifyBaseLogger, "debug" | "info">,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  write(line: AnsweredRequest): void {
    if (line.status < 400) this.log.debug(line, "request");
    else this.info(line, "request");
  }

  /** Any other line whose rate a client decides, such as the end of a socket. */
  info(fields: object, message: string): void {
    const nowMs = this.monotonic();
    if (nowMs - this.windowStartMs >= SECOND_MS) {
      this.windowStartMs = nowMs;
      this.written = 0;
    }
    if (this.written < LINES_PER_SECOND) {
      this.written++;
      this.log.info(fields, message);
      return;
    }
    this.suppressed++;
    this.summary ??= setTimeout(() => this.summarise(), SECOND_MS).unref();
  }

  private summarise(): void {
    const { suppressed } = this;
    this.summary = undefined;
    this.suppressed = 0;
    this.log.info({ suppressed }, "lines about refused requests and closed sockets were left out");
  }
}
