/**
 * What clients know of their orders: each has a session and a nonce, may be sent any number of
 * times, and every answer must fit those before it. Once it was executed, every further answer
 * names the same order, unless the session is over.
 */

import { type Command, REFUSAL, type VenueEvent } from "@perpgate/engine";
import { orderKey } from "./transcript.js";
import { mustHold } from "./violation.js";

interface OrderStory {
  orderId: number | undefined;
  /** Sent and not answered. */
  open: boolean;
}

const SESSION_OVER: readonly number[] = [REFUSAL.session_unknown, REFUSAL.session_expired];

export class OrderLedger {
  private readonly stories = new Map<string, OrderStory>();

  get size(): number {
    return this.stories.size;
  }

  sent(command: Command): void {
    if (command.kind !== "PlaceOrder") return;
    const key = orderKey(command.session, command.nonce);
    const story = this.stories.get(key);
    if (story === undefined) this.stories.set(key, { orderId: undefined, open: true });
    else story.open = true;
  }

  answered(command: Command, events: readonly VenueEvent[]): void {
    if (command.kind !== "PlaceOrder") return;
    const key = orderKey(command.session, command.nonce);
    const story = this.stories.get(key);
    mustHold(story !== undefined, () => `${key} was answered and never sent`);
    story.open = false;
    const orderId = answeredOrderId(events);
    if (story.orderId === undefined) {
      story.orderId = orderId;
      return;
    }
    const over = events.some(
      (event) => event.kind === "CommandRefused" && SESSION_OVER.includes(event.refusal),
    );
    mustHold(
      over || orderId === story.orderId,
      () => `${key} was order ${story.orderId} and is now answered as ${orderId ?? "refused"}`,
    );
  }

  /** When every client has had its answers: each order was executed once, or was refused. */
  checkSettled(executions: ReadonlyMap<string, number>): void {
    for (const [key, { orderId, open }] of this.stories) {
      mustHold(!open, () => `${key} never got an answer`);
      if (orderId === undefined) continue;
      const executed = executions.get(key);
      mustHold(executed === orderId, () => `${key} is order ${orderId}, the log has ${executed}`);
    }
    for (const key of executions.keys()) {
      mustHold(this.stories.has(key), () => `${key} was executed and never sent`);
    }
  }
}

function answeredOrderId(events: readonly VenueEvent[]): number | undefined {
  for (const event of events) {
    if (event.kind === "OrderAcknowledged" || event.kind === "OrderReplayed") return event.orderId;
  }
  return undefined;
}
