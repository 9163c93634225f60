/** Further gateways of a scenario's venue, each with its own writer and batches. */
import { audit } from "../../audit.js";
import type { Command } from "../../commands.js";
import type { DropReason } from "../../state/writers.js";
import { joining, writerId } from "../sole-writer.js";
import type { Venue } from "./venue.js";

/** Ids that the venue's own writer does not use. */
const FIRST_ID = 2 ** 32;

export class Gateway {
  id = "";
  counter = -1;

  constructor(
    private readonly venue: Venue,
    readonly name: string,
  ) {
    this.joins();
  }

  /** Begins to write under a new id. */
  joins(): DropReason | null {
    this.id = writerId(FIRST_ID + this.venue.engine.state.writers.ids.size);
    this.counter = -1;
    return this.sends(joining(this.id, this.name, this.venue.now));
  }

  /** The next batch; without commands it is a sign of life. */
  sends(...commands: readonly Command[]): DropReason | null {
    return writes(this.venue, this.id, ++this.counter, commands);
  }

  asks(ms: number): void {
    this.sends({ kind: "AskTime", stampMs: ms });
  }

  connects(session: number): void {
    this.sends({ kind: "SessionConnected", stampMs: this.venue.now, session });
  }

  disconnects(session: number): void {
    this.sends({ kind: "SessionDisconnected", stampMs: this.venue.now, session });
  }

  leaves(): void {
    this.sends({ kind: "WriterLeft", stampMs: this.venue.now });
  }

  get isLive(): boolean {
    return this.venue.engine.state.writers.get(this.id) !== undefined;
  }
}

/** Any batch; the venue's events are those of all its commands. */
export function writes(
  venue: Venue,
  writer: string,
  counter: number,
  commands: readonly Command[],
): DropReason | null {
  venue.events = [];
  const dropped = venue.engine.acceptBatch(writer, counter, commands);
  if (dropped !== null) return dropped;
  for (const command of commands) venue.events.push(...venue.engine.apply(command).decode());
  const faults = audit(venue.engine);
  if (faults.length > 0) throw new Error(faults.join("; "));
  return null;
}
