/**
 * Writes the history in the caller's thread, for tests and tools: starting a thread takes most of the
 * processor time of a short life. A transaction then holds up the caller.
 */

import type { Held } from "./history-environment.js";
import { openTables } from "./history-environment.js";
import type { HistoryStore } from "./history-store.js";
import type { Slice } from "./slice.js";
import { DiskProbe } from "./thread/disk-probe.js";
import type { SliceWriter, WriterEvents } from "./thread/history-writer.js";
import { type FromWriter, SIGNAL, SIGNAL_BYTES, type ToWriter } from "./thread/messages.js";
import { slicesInto } from "./thread/slice-transactions.js";

export class InlineWriter implements SliceWriter {
  private readonly signals = new Int32Array(new SharedArrayBuffer(SIGNAL_BYTES));
  private readonly probe: DiskProbe;
  private readonly take: (message: ToWriter) => void;

  constructor(
    { environment, writerData }: HistoryStore,
    private readonly events: WriterEvents,
    exitDeadline?: SharedArrayBuffer,
  ) {
    const tables = openTables(environment, false);
    this.probe = new DiskProbe(writerData.directory);
    const store = { environment, tables, probe: this.probe, spreadMs: 0 };
    const data = { ...writerData, signals: this.signals.buffer, exitDeadline };
    this.take = slicesInto(store, data, (message) => this.onMessage(message));
  }

  write({ number, shared, length, count }: Slice, held: Held): void {
    void this.post({ kind: "write", number, memory: shared, length, count, held });
  }

  flush(): void {
    void this.post({ kind: "flush", request: 0 });
  }

  async close(): Promise<void> {
    await this.post({ kind: "close" });
    this.probe.close();
  }

  async abandon(): Promise<void> {
    Atomics.store(this.signals, SIGNAL.ABANDONED, 1);
    await this.close();
  }

  /** Not before the caller's next line, which may wait for what the message leads to. */
  private async post(message: ToWriter): Promise<void> {
    await undefined;
    this.take(message);
  }

  private onMessage(message: FromWriter): void {
    if (message.kind === "written") this.events.onWritten(message.number);
    else this.events.onFailure(new Error(`the history cannot be written: ${message.message}`));
  }
}
