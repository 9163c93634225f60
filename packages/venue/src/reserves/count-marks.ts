/**
 * Where in the log the liabilities are counted: after the first command of each hour of the log's time, and after
 * each request of the operator.
 */
import { HOUR_MS } from "@perpgate/protocol/rules";
import { refusalIn } from "../event-fields.js";
import type { Applied } from "../replica.js";

export class CountMarks {
  private hour = 0;

  /** Of the log's time before the first command that is observed; 0 if none was applied. */
  constructor(timeMs: number) {
    this.hour = Math.floor(timeMs / HOUR_MS);
  }

  /** The venue's beginning is none. */
  isMark({ timeMs, command, events }: Applied): boolean {
    const hour = Math.floor(timeMs / HOUR_MS);
    const isNew = hour > this.hour && this.hour > 0;
    this.hour = hour;
    return isNew || (command.kind === "CountReserves" && refusalIn(events) === "");
  }
}
