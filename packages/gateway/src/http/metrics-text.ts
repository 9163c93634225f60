/**
 * The text of the metrics, collected at most once a second.
 *
 * Collecting takes about 2 ms of the thread that orders run on, so its rate must not be up to
 * the caller. Requests that come while a collection is in flight share it.
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
      // A collection that failed is not kept; its waiters get the error.
      this.text.catch(() => {
        this.text = undefined;
      });
    }
    return this.text;
  }
}
