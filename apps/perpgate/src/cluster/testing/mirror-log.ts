/** A replay of a gateway's mirror, which notes what tests ask about: orders, ticks and writers. */

import { createHash } from "node:crypto";
import { type Batch, inspectLog, LOG_START, LogReader, nodeDisk } from "@perpgate/journal";
import { type Applied, Replica } from "@perpgate/venue";
import { newReplicaState, observe } from "@perpgate/venue/testing";
import { journalFolderOf } from "../folders.js";

type Command = Applied["command"];
type VenueEvent = ReturnType<Applied["events"]["decode"]>[number];

/** An order that was acknowledged. */
export interface Executed {
  /** Session and nonce. */
  readonly name: string;
  readonly orderId: number;
  readonly acknowledgement: string;
}

/** One incarnation of a gateway. */
export interface WriterLife {
  readonly name: string;
  /** Position of its join. */
  readonly joined: number;
  /** The position after its last batch that was accepted. */
  lastBatch: number;
  /** Whether a batch of its own came since the last tick. */
  isHeard: boolean;
  /** Accepted ticks in a row, each without a batch of its own since the tick before; now, and at most. */
  ticksMissed: number;
  mostMissed: number;
  /** The position of its end, and the command that ended it. */
  end?: { readonly position: number; readonly by: Command["kind"] };
}

interface Lead {
  readonly name: string;
  readonly epoch: number;
}

/** Equal in all mirrors that are replayed to the same place. */
export interface ReplayedState {
  readonly stateHash: string;
  readonly blockHash: string;
  /** Numbers of the batches that were not applied. */
  readonly dropped: readonly number[];
}

export class MirrorLog {
  /** Batches that it has. */
  readonly end: number;
  /** By position. */
  readonly executed = new Map<number, Executed>();
  /** Position of an order's end, by its id. */
  readonly orderEnds = new Map<number, number>();
  readonly lives: WriterLife[] = [];
  /** Claims that were accepted, in their order. */
  readonly leads: Lead[] = [];
  /** Numbers of the batches that were not applied. */
  readonly dropped: number[] = [];
  private readonly byId = new Map<string, WriterLife>();
  private readonly state = newReplicaState();
  private readonly replica = new Replica(this.state.engine, [
    { onCommand: (applied) => this.note(applied) },
  ]);
  private readonly reader: LogReader;
  /** Of the batch that is applied. */
  private writer = "";
  private isNoted = false;
  private lastTickMs = 0;

  constructor(folder: string) {
    const directory = journalFolderOf(folder);
    this.end = inspectLog(nodeDisk, directory)?.end.batch ?? 0;
    this.reader = new LogReader(nodeDisk, directory, LOG_START);
  }

  /** Goes on to that batch. */
  replayTo(until: number): ReplayedState {
    for (;;) {
      const batch = this.reader.next(until);
      if (batch === undefined) break;
      this.take(batch);
    }
    const { engine, blocks } = this.state;
    return {
      stateHash: engine.stateHash((bytes) => createHash("sha256").update(bytes).digest("hex")),
      blockHash: blocks.lastHash.toString("hex"),
      dropped: [...this.dropped],
    };
  }

  close(): void {
    this.reader.close();
  }

  private take(batch: Batch): void {
    this.writer = batch.id.writer;
    this.isNoted = false;
    if (!this.replica.applyBatch(batch)) {
      this.dropped.push(batch.seq.batch);
      return;
    }
    this.hear();
    const life = this.byId.get(this.writer);
    if (life !== undefined) life.lastBatch = this.replica.seq;
  }

  private note(applied: Applied): void {
    observe(this.state, applied);
    this.hear();
    const { seq, command, events } = applied;
    const { lastTickMs } = this.state.engine.state;
    if (command.kind === "CoreLeads") this.leads.push({ name: command.core, epoch: command.epoch });
    if (command.kind === "Tick" && lastTickMs > this.lastTickMs) this.countTick();
    this.lastTickMs = lastTickMs;
    for (const event of events.decode()) this.noteEvent(seq, command, event);
  }

  /** Once per batch, before its commands: a tick among them comes after it. */
  private hear(): void {
    if (this.isNoted) return;
    this.isNoted = true;
    const life = this.byId.get(this.writer);
    if (life !== undefined) life.isHeard = true;
  }

  private countTick(): void {
    for (const life of this.byId.values()) {
      life.ticksMissed = life.isHeard ? 0 : life.ticksMissed + 1;
      life.mostMissed = Math.max(life.mostMissed, life.ticksMissed);
      life.isHeard = false;
    }
  }

  private noteEvent(position: number, command: Command, event: VenueEvent): void {
    if (event.kind === "OrderEnded") this.orderEnds.set(event.orderId, position);
    if (event.kind === "WriterJoined" && command.kind === "WriterJoined") {
      const { name, writer } = command;
      const counts = { isHeard: true, ticksMissed: 0, mostMissed: 0 };
      const life = { name, joined: position, lastBatch: position, ...counts };
      this.lives.push(life);
      this.byId.set(writer, life);
    }
    if (event.kind === "WriterEnded") this.endLife(event.writer, position, command.kind);
    if (event.kind === "OrderAcknowledged" && command.kind === "PlaceOrder") {
      this.executed.set(position, {
        name: `${command.session}/${command.nonce}`,
        orderId: event.orderId,
        acknowledgement: JSON.stringify(event),
      });
    }
  }

  private endLife(joined: number, position: number, by: Command["kind"]): void {
    for (const [id, life] of this.byId) {
      if (life.joined !== joined) continue;
      life.end = { position, by };
      this.byId.delete(id);
    }
  }
}
