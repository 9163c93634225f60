/**
 * Holds orders between the check of their signatures and the core, while a test wants it. What else the
 * edge sends overtakes them.
 */

import type { LinkTransport, Receiver } from "@perpgate/link";

export type Connect = (receiver: Receiver) => LinkTransport;

export class HeldOrders {
  private readonly held: (() => void)[] = [];
  private isHolding = false;
  private isHoldingUnsigned = false;

  /** How many orders wait. */
  get waiting(): number {
    return this.held.length;
  }

  before(connect: Connect): Connect {
    return (receiver) => {
      const transport = connect(receiver);
      return {
        waitingBytes: 0,
        end: () => transport.end(),
        send: (frame) => {
          // Without a signature it can only be answered from what was executed before.
          const isOrder =
            frame.kind === "request" &&
            frame.name === "placeOrder" &&
            "signature" in frame.body &&
            (this.isHoldingUnsigned || frame.body.signature !== undefined);
          if (this.isHolding && isOrder) this.held.push(() => transport.send(frame));
          else transport.send(frame);
        },
      };
    };
  }

  /** From now on orders wait; those that have no signature that holds by default do not. */
  hold(withUnsigned = false): void {
    this.isHolding = true;
    this.isHoldingUnsigned = withUnsigned;
  }

  /** Lets go all that wait, and the next ones. */
  release(): void {
    this.isHolding = false;
    for (const go of this.held.splice(0)) go();
  }
}
