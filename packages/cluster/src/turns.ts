/**
 * Delivers accepted messages in order, a bounded number in each turn of the event loop: the timers,
 * signals and requests of a gateway that catches up must not wait for a whole page of the stream.
 *
 * A message is delivered synchronously while its turn has room for it; the others wait here. Before the
 * first message of a turn the user may have to make room, and no message is delivered until then.
 */

import type { Incoming } from "./incoming.js";

/** Messages of one turn, and bytes after which no further message is delivered in it. */
export const TURN_MESSAGES = 64;
export const TURN_BYTES = 65_536;
/** A page of a fetch, and as many that are pushed meanwhile. */
export const MAX_WAITING = 2_000;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export interface TurnEvents {
  deliver(message: Incoming): void;
  /** Undefined if more can be delivered; otherwise nothing is before the promise resolves. */
  room(): Promise<void> | undefined;
  /** `room` has rejected; nothing more is delivered. */
  failed(error: unknown): void;
  /** The last message that waited was delivered. */
  drained(): void;
}

export class Turns {
  private readonly waiting: Incoming[] = [];
  private waitingBytes = 0;
  /** Delivered in this turn. */
  private messages = 0;
  private bytes = 0;
  private isScheduled = false;
  private isWithoutRoom = false;
  private isClosed = false;

  constructor(private readonly events: TurnEvents) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** Whether no further message must be added. */
  get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING || this.waitingBytes >= MAX_WAITING_BYTES;
  }

  add(message: Incoming): void {
    if (this.isEmpty && this.hasRoom()) {
      this.deliver(message);
      return;
    }
    this.waiting.push(message);
    this.waitingBytes += message.data.length;
    this.endTurn();
  }

  /** Delivers what waits, as far as this turn has room. */
  private goOn(): void {
    if (this.isEmpty) return;
    while (this.hasRoom()) {
      const message = this.waiting.shift();
      if (message === undefined) break;
      this.waitingBytes -= message.data.length;
      this.deliver(message);
    }
    if (this.isEmpty && !this.isClosed) this.events.drained();
  }

  close(): void {
    this.isClosed = true;
    this.waiting.length = 0;
  }

  private hasRoom(): boolean {
    if (this.isClosed || this.isWithoutRoom) return false;
    if (this.messages > 0) return this.messages < TURN_MESSAGES && this.bytes < TURN_BYTES;
    const room = this.events.room();
    if (room === undefined) return true;
    this.isWithoutRoom = true;
    room.then(
      () => {
        this.isWithoutRoom = false;
        this.goOn();
      },
      (error: unknown) => this.events.failed(error),
    );
    return false;
  }

  private deliver(message: Incoming): void {
    this.messages++;
    this.bytes += message.data.length;
    this.endTurn();
    this.events.deliver(message);
  }

  /** The next turn begins after the timers and the input of this one. */
  private endTurn(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.messages = 0;
      this.bytes = 0;
      this.goOn();
    });
  }
}
