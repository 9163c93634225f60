/**
 * Log lines whose rate clients decide, sampled.
 *
 * Each request is one line: at `debug` if it succeeded, at `info` if it was refused. Of the lines at
 * `info`, the first `LINES_PER_SECOND` of each second are written and the rest counted in one line. The
 * metrics count all of them.
 */

import type { FastifyBaseLogger } from "fastify";

interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly elapsedMs: number;
}

interface InfoLogger {
  info(fields: object, message: string): void;
}

const SECOND_MS = 1_000;
const LINES_PER_SECOND = 10;

export class SampledLog {
  private windowStartMs = Number.NEGATIVE_INFINITY;
  private written = 0;
  private suppressed = 0;
  private summary: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: InfoLogger,
    /** Used in the line that counts the rest. */
    private readonly subject: string,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

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
    const { suppressed, subject } = this;
    this.summary = undefined;
    this.suppressed = 0;
    this.log.info({ suppressed }, `more ${subject} than are logged`);
  }
}

export class RequestLog {
  private readonly refusals: SampledLog;

  constructor(private readonly log: Pick<FastifyBaseLogger, "debug" | "info">) {
    this.refusals = new SampledLog(log, "refused requests");
  }

  write(line: AnsweredRequest): void {
    if (line.status < 400) this.log.debug(line, "request");
    else this.refusals.info(line, "request");
  }
}
