/**
 * The text of the metrics, collected at most once a second.
 *
 * Collecting blocks the event loop for about 2 ms, so clients must not decide its rate. Requests during
 * a collection share it.
 */

import type { Monotonic } from "../limits/limits.js";

const KEPT_MS = 1_000;

/** A registry of prom-client, or what stands for several. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** What `/metrics` serves. */
export interface MetricsPage {
  readonly contentType: string;
  read(): Promise<Buffer>;
}

export class MetricsText implements MetricsPage {
  private text: Promise<Buffer> | undefined;
  private collectedAtMs = 0;

  constructor(
    private readonly source: MetricsSource,
    private readonly monotonic: Monotonic = () => performance.now(),
  ) {}

  get contentType(): string {
    return this.source.contentType;
  }

  read(): Promise<Buffer> {
    const nowMs = this.monotonic();
    if (this.text === undefined || nowMs - this.collectedAtMs >= KEPT_MS) {
      this.collectedAtMs = nowMs;
      this.text = this.source.metrics().then((text) => Buffer.from(text));
      // A failed collection is not cached.
      this.text.catch(() => {
        this.text = undefined;
      });
    }
    return this.text;
  }
}
