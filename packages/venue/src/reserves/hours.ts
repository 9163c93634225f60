/** Where in the log the liabilities are counted: after the first command of each hour of the log's time. */
import { HOUR_MS } from "@perpgate/protocol/rules";

export class HourMarks {
  private hour = 0;

  /** Of the log's time before the first command that is observed; 0 if none was applied. */
  constructor(timeMs: number) {
    this.hour = Math.floor(timeMs / HOUR_MS);
  }

  /** Whether the command is the first of its hour; the venue's beginning is none. */
  isMark(timeMs: number): boolean {
    const hour = Math.floor(timeMs / HOUR_MS);
    const isNew = hour > this.hour && this.hour > 0;
    this.hour = hour;
    return isNew;
  }
}
