/**
 * The text of the metrics, collected at most once a second.
 *
 * Collecting blocks the event loop for about 2 ms, so clients must not decide its rate. Requests during
 * a collection share it.
 */

import type { Registry } from "prom-client";
import type { Monotonic } from "../limits/limits.js";

const KEPT_MS = 1_000;

export class MetricsText {
  private text: Promise<Buffer> | undefined;
  private collectedAtMs = 0;

  constructor(
    private readonly registry: Registry,
    private readonly monotonic: Monotonic = () => performance.now(),
  ) {}

  get contentType(): string {
    return this.registry.contentType;
  }

  read(): Promise<Buffer> {
    const nowMs = this.monotonic();
    if (this.text === undefined || nowMs - this.collectedAtMs >= KEPT_MS) {
      this.collectedAtMs = nowMs;
      this.text = this.registry.metrics().then((text) => Buffer.from(text));
      // A failed collection is not cached.
      this.text.catch(() => {
        this.text = undefined;
      });
    }
    return this.text;
  }
}
