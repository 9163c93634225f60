/**
 * What passes through the sockets, as plain numbers that cost a frame one addition; `register` makes
 * metrics of them. Labels are operations and codes, never clients.
 */

import type { Registry } from "prom-client";
import { CLOSE } from "../ws/close-codes.js";
import { gauged, increment, summed, summedBy } from "./registered.js";
import { TimesByStatus, TimeTable } from "./time-table.js";

/** Of the codes that RFC 6455 defines, from 1000 on. */
const LAST_PROTOCOL_CODE = 1015;

/** The open sockets, read when the metrics are. */
interface OpenSockets {
  readonly size: number;
  readonly readerCount: number;
  readonly bufferedBytes: number;
}

export class SocketCounts {
  messages = 0;
  pings = 0;
  pongs = 0;
  receivedBytes = 0;
  sentFrames = 0;
  sentBytes = 0;
  /** Frames of the latest state that a slow reader did not get. */
  skippedFrames = 0;
  opened = 0;
  /** Those of the server from the beginning: Prometheus sees a counter rise only if it was there. */
  readonly closed = new Map<number | "other", number>(
    Object.values(CLOSE).map(({ code }) => [code, 0]),
  );
  backfills = 0;
  activeBackfills = 0;
  backfilledRows = 0;
  gaps = 0;
  /** Messages whose operation is not known. */
  readonly unknown: TimesByStatus;
  private readonly times = new TimeTable();
  private readonly operations: ReadonlyMap<string, TimesByStatus>;

  constructor(operations: Iterable<string>) {
    this.unknown = new TimesByStatus(this.times, { op: "unknown" });
    this.operations = new Map(
      Array.from(operations, (op) => [op, new TimesByStatus(this.times, { op })]),
    );
  }

  /** Of one operation that the gateway knows. */
  timesOf(op: string): TimesByStatus {
    return this.operations.get(op) ?? this.unknown;
  }

  /** Clients may choose any code from 3000 to 4999; each would be a series. */
  onClosed(code: number): void {
    const isNamed = code <= LAST_PROTOCOL_CODE || this.closed.has(code);
    increment(this.closed, isNamed ? code : "other");
  }

  register(registry: Registry, open: OpenSockets): void {
    this.times.register(
      registry,
      "perpgate_socket_request_seconds",
      "Time from reading a message of a socket to its answer; status is that of the REST answer.",
    );
    this.registerFrames(registry);
    this.registerBackfills(registry);
    const gauge = (name: string, help: string, read: () => number) =>
      gauged(registry, `perpgate_${name}`, help, read);
    gauge("sockets_open", "Open sockets.", () => open.size);
    gauge("socket_subscriptions", "Streams that sockets read live.", () => open.readerCount);
    gauge("socket_buffered_bytes", "Bytes of frames that no client has taken yet.", () => {
      return open.bufferedBytes;
    });
    summed(registry, "perpgate_sockets_opened_total", "Sockets opened.", () => this.opened);
    summedBy(
      registry,
      "perpgate_sockets_closed_total",
      "Sockets closed, by close code; 1006: without a closing handshake; other: a client's own.",
      "code",
      () => this.closed,
    );
  }

  private registerFrames(registry: Registry): void {
    summedBy(
      registry,
      "perpgate_socket_frames_received_total",
      "Frames of clients: messages, pings and pongs.",
      "kind",
      () => Object.entries({ message: this.messages, ping: this.pings, pong: this.pongs }),
    );
    const sum = (name: string, help: string, read: () => number) =>
      summed(registry, `perpgate_socket_${name}_total`, help, read);
    sum("received_bytes", "Bytes of clients' messages.", () => this.receivedBytes);
    sum("frames_sent", "Answers and frames of streams.", () => this.sentFrames);
    sum("sent_bytes", "Bytes of answers and frames of streams.", () => this.sentBytes);
    sum("frames_skipped", "Frames of the latest state that slow readers were spared.", () => {
      return this.skippedFrames;
    });
  }

  private registerBackfills(registry: Registry): void {
    const sum = (name: string, help: string, read: () => number) =>
      summed(registry, `perpgate_${name}_total`, help, read);
    sum("backfills", "Private streams resumed from the history.", () => this.backfills);
    sum("backfill_rows", "Rows of history read for them.", () => this.backfilledRows);
    sum("stream_gaps", "Private streams whose since was beyond the log's end.", () => this.gaps);
    gauged(registry, "perpgate_backfills_active", "Private streams that resume now.", () => {
      return this.activeBackfills;
    });
  }
}
