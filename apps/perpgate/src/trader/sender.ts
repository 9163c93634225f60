/**
 * Sends what changes an account. After Ctrl-C it says what was sent, whether the outcome is known, and
 * how to ask.
 */

import { type CallOptions, ConnectionError, PerpgateError } from "@perpgate/sdk";
import { StartError } from "../cli/start-error.js";
import { type TradingVenue, withSession } from "./connection.js";
import { Interruption } from "./interruption.js";
import type { VenueCommandOptions } from "./venue-command.js";
import { failureOf } from "./venue-failure.js";

/** A request as messages name it. */
interface Sent {
  /** Such as `buy BTCUSD, nonce 17`. */
  readonly what: string;
  /** How to learn what became of it. */
  readonly settle: string;
}

export interface SendingVenue extends TradingVenue {
  readonly sender: Sender;
}

/** `withSession` for a command that changes something. */
export function withSender(
  options: VenueCommandOptions,
  run: (venue: SendingVenue) => Promise<number>,
): Promise<number> {
  return withSession(options, async (venue) => {
    const sender = new Sender(venue);
    try {
      return await run({ ...venue, sender });
    } finally {
      sender.end();
    }
  });
}

/** For one request of a command that has more to do than sending. */
export async function sendOnce<T>(
  venue: TradingVenue,
  sent: Sent,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const sender = new Sender(venue);
  try {
    return await sender.send(sent, call);
  } finally {
    sender.end();
  }
}

export class Sender {
  private readonly answered: string[] = [];
  private isSending = false;
  private readonly stop = () => {
    // An `Interruption` aborts what is in flight.
    if (this.isSending) return;
    const sent =
      this.answered.length === 0 ? "nothing was sent" : `done: ${this.answered.join("; ")}`;
    const error = new StartError(`stopped; ${sent}`);
    process.stderr.write(this.venue.output.isJson ? error.json : error.text);
    process.exit(error.exitCode);
  };

  constructor(private readonly venue: Pick<TradingVenue, "url" | "hint" | "output">) {
    process.on("SIGINT", this.stop);
    process.on("SIGTERM", this.stop);
  }

  async send<T>({ what, settle }: Sent, call: (options: CallOptions) => Promise<T>): Promise<T> {
    const interruption = new Interruption();
    this.isSending = true;
    try {
      const answer = await call({ signal: interruption.signal });
      this.answered.push(what);
      return answer;
    } catch (error) {
      if (interruption.hasHappened) {
        const doubt = "no answer arrived, so it may have been executed";
        throw new StartError(`stopped; sent: ${what}; ${doubt}; ${settle}`);
      }
      throw isUnknown(error) ? failureOf(error, { ...this.venue, settle }) : error;
    } finally {
      this.isSending = false;
      interruption.end();
    }
  }

  end(): void {
    process.off("SIGINT", this.stop);
    process.off("SIGTERM", this.stop);
  }
}

function isUnknown(error: unknown): boolean {
  const isOfVenue = error instanceof PerpgateError || error instanceof ConnectionError;
  return isOfVenue && error.outcome === "unknown";
}
