/** Warns once when the stream passes 50 and 80 % of its limit: a full stream refuses every batch. */

import type { StreamFigures } from "./jetstream-api.js";
import type { Logger } from "./link.js";

const ALARMS = [0.5, 0.8];

export class FillAlarm {
  private raised = 0;

  constructor(
    private readonly stream: string,
    private readonly logger: Logger,
  ) {}

  check({ bytes, maxBytes }: StreamFigures): void {
    if (maxBytes === undefined) return;
    const passed = ALARMS.filter((share) => bytes >= share * maxBytes).length;
    if (passed > this.raised) {
      const percent = Math.floor((100 * bytes) / maxBytes);
      this.logger.warn(
        `stream ${this.stream} is ${percent} % full (${bytes} of ${maxBytes} bytes): raise its ` +
          "max_bytes, or no order is accepted once it is full",
      );
    }
    this.raised = passed;
  }
}
