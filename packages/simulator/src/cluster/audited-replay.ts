/** A fresh replay of the stream that notes every attempt that ran, and where sessions were connected. */
import { type Command, END, type PlaceOrder, type VenueEvent } from "@perpgate/engine";
import { liveWriters } from "@perpgate/engine/reading";
import { type Applied, Replica } from "@perpgate/venue";
import { newReplicaState, observe } from "@perpgate/venue/testing";
import { mustHold, sameBytes } from "../auditor/violation.js";
import type { TraderAttempt } from "./attempt.js";
import { ChainedReader } from "./chain.js";
import type { ModelMessage } from "./model-stream.js";

interface Run {
  readonly seq: number;
  /** Of its message in the stream. */
  readonly sequence: number;
  readonly events: Uint8Array;
}

export class AuditedReplay {
  readonly state = newReplicaState([1, 2]);
  /** Orders that ended with their session's last connection, as its gateway reported, and with a writer. */
  readonly canceled = { byReport: 0, byWriter: 0 };
  /** Batches that were not applied, by the reason. */
  readonly drops = new Map<string, number>();
  private readonly reader = new ChainedReader();
  private readonly replica: Replica;
  /** By the attempt's number. */
  private readonly runs = new Map<number, Run>();
  private readonly executed = new Map<string, number>();
  /** Writers by the numbers of their joins, and where each session has a connection. */
  private readonly presence = new Map<number, Set<string>>();
  private readonly emptySince = new Map<number, number>();
  private readonly sessionOfOrder = new Map<number, number>();
  private readonly writers = new Map<number, string>();
  private writer = "";

  constructor() {
    this.replica = new Replica(this.state.engine, [{ onCommand: (applied) => this.note(applied) }]);
  }

  take(stored: ModelMessage): void {
    const { batch } = this.reader.next(stored);
    this.writer = batch.id.writer;
    if (this.replica.applyBatch(batch)) return;
    const reason = this.replica.dropped ?? "";
    this.drops.set(reason, (this.drops.get(reason) ?? 0) + 1);
  }

  /** Of the message in the stream that ran the attempt; 0 if none did. */
  sequenceOf(number: number): number {
    return this.runs.get(number)?.sequence ?? 0;
  }

  check({ number, command, answer, seq, events }: TraderAttempt): void {
    const run = this.runs.get(number);
    const what = `${command.kind} (attempt ${number})`;
    mustHold(answer !== "waiting", () => `${what} never got an answer`);
    if (answer === "not_executed") {
      mustHold(run === undefined, () => `${what} was not to be executed, and ran at ${run?.seq}`);
    }
    if (answer !== "applied") return;
    mustHold(run?.seq === seq, () => `${what} was answered at ${seq}, the log has ${run?.seq}`);
    mustHold(sameBytes(events, run.events), () => `${what} was answered differently from the log`);
  }

  private note(applied: Applied): void {
    observe(this.state, applied);
    const { seq, command, evidence, events } = applied;
    const bytes = Uint8Array.from(events.bytes());
    if (evidence.signed.length === 4) {
      const { buffer, byteOffset } = evidence.signed;
      const number = new DataView(buffer, byteOffset).getUint32(0) - 1;
      const earlier = this.runs.get(number);
      mustHold(earlier === undefined, () => `attempt ${number} ran at ${earlier?.seq} and ${seq}`);
      this.runs.set(number, { seq, sequence: this.reader.last, events: bytes });
    }
    const decoded = events.decode();
    if (command.kind === "PlaceOrder") this.noteOrder(seq, command, decoded);
    // The cancels of a lost connection come before the events that say how it was lost.
    this.notePresence(seq, command, decoded);
    for (const event of decoded) this.noteEvent(seq, command, event);
  }

  /** Once it ran, an order that is sent again is answered as the same one. */
  private noteOrder(
    seq: number,
    { session, nonce }: PlaceOrder,
    events: readonly VenueEvent[],
  ): void {
    const key = `session ${session} nonce ${nonce}`;
    const earlier = this.executed.get(key);
    if (earlier === undefined) return;
    const replayed = events.find((event) => event.kind === "OrderReplayed")?.orderId;
    mustHold(
      replayed === earlier,
      () => `${key} ran at ${earlier}, at ${seq}: ${JSON.stringify(events)}`,
    );
  }

  private notePresence(seq: number, command: Command, events: readonly VenueEvent[]): void {
    const isRefused = events.some(({ kind }) => kind === "CommandRefused");
    if (command.kind === "SessionConnected" && !isRefused) {
      const at = this.presence.get(command.session) ?? new Set();
      at.add(this.writer);
      this.presence.set(command.session, at);
    }
    if (command.kind === "SessionDisconnected") this.leave(seq, command.session, this.writer);
    if (command.kind === "WriterJoined" && !isRefused) this.writers.set(seq, command.writer);
    for (const event of events) {
      if (event.kind !== "WriterEnded") continue;
      const ended = this.writers.get(event.writer)!;
      for (const session of this.presence.keys()) this.leave(seq, session, ended);
    }
    const live = liveWriters(this.state.engine.state).length;
    mustHold(live <= 64, () => `${live} writers are live`);
  }

  private leave(seq: number, session: number, writer: string): void {
    const at = this.presence.get(session);
    if (at?.delete(writer) === true && at.size === 0) this.emptySince.set(session, seq);
  }

  private noteEvent(seq: number, command: Command, event: VenueEvent): void {
    if (event.kind === "OrderAcknowledged") {
      const key = `session ${event.session} nonce ${event.nonce}`;
      const earlier = this.executed.get(key);
      mustHold(earlier === undefined, () => `${key} ran at ${earlier} and at ${seq}`);
      this.executed.set(key, seq);
      this.sessionOfOrder.set(event.orderId, event.session);
    }
    if (event.kind !== "OrderEnded" || event.reason !== END.disconnected) return;
    if (command.kind === "SessionDisconnected") this.canceled.byReport++;
    else this.canceled.byWriter++;
    const session = this.sessionOfOrder.get(event.orderId) ?? 0;
    const since = this.emptySince.get(session);
    mustHold(
      since !== undefined && since > event.orderId,
      () =>
        `order ${event.orderId} was canceled at ${seq}, its session ${session} had a connection`,
    );
  }
}
