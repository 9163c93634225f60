/** Counts the dropped messages, and writes at most one line a second about them. */

import type { Incoming } from "./incoming.js";
import type { Judgement } from "./judge.js";
import type { Logger } from "./link.js";

const LINE_MS = 1000;

export class Drops {
  malformed = 0;
  chain = 0;
  private lineMs = -LINE_MS;

  constructor(private readonly logger: Logger) {}

  add({ sequence, subject }: Incoming, { verdict, problem }: Judgement): void {
    if (verdict === "malformed") this.malformed++;
    else this.chain++;
    const now = performance.now();
    if (now - this.lineMs < LINE_MS) return;
    this.lineMs = now;
    this.logger.warn(`dropped the message at sequence ${sequence} on ${subject}: ${problem}`);
  }
}
