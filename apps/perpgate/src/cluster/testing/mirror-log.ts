/** A replay of a gateway's mirror, which notes what tests ask about: orders and who led. */

import { createHash } from "node:crypto";
import { inspectLog, LOG_START, nodeDisk, SegmentReader } from "@perpgate/journal";
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
  /** Claims that were accepted, in their order. */
  readonly leads: Lead[] = [];
  /** Numbers of the batches that were not applied. */
  readonly dropped: number[] = [];
  private readonly state = newReplicaState();
  private readonly replica = new Replica(this.state.engine, [
    { onCommand: (applied) => this.note(applied) },
  ]);
  private readonly reader: SegmentReader;

  constructor(folder: string) {
    const directory = journalFolderOf(folder);
    this.end = inspectLog(nodeDisk, directory)?.end.batch ?? 0;
    this.reader = new SegmentReader(nodeDisk, directory, LOG_START);
  }

  /** Goes on to that batch. */
  replayTo(until: number): ReplayedState {
    for (;;) {
      const batch = this.reader.next(until);
      if (batch === undefined) break;
      if (!this.replica.applyBatch(batch)) this.dropped.push(batch.seq.batch);
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

  private note(applied: Applied): void {
    observe(this.state, applied);
    const { seq, command, events } = applied;
    if (command.kind === "CoreLeads") this.leads.push({ name: command.core, epoch: command.epoch });
    for (const event of events.decode()) this.noteEvent(seq, command, event);
  }

  private noteEvent(position: number, command: Command, event: VenueEvent): void {
    if (event.kind === "OrderEnded") this.orderEnds.set(event.orderId, position);
    if (event.kind === "OrderAcknowledged" && command.kind === "PlaceOrder") {
      this.executed.set(position, {
        name: `${command.session}/${command.nonce}`,
        orderId: event.orderId,
        acknowledgement: JSON.stringify(event),
      });
    }
  }
}
