/**
 * What the core sends to its edges besides answers: public and private streams.
 *
 * `onCommand` runs inside the apply callback of every durable command and must not throw. A fault is
 * reported. It may lose public frames; sockets that would miss a private one are closed and resume.
 */

import type { CoreLink, EdgeNotice, NoticeHandlers, RequestHandlers } from "@perpgate/link";
import type { Applied } from "../../replica.js";
import type { Venue } from "../../venue.js";
import { AccountStreams } from "./account-streams.js";
import type { EdgeFollower } from "./followers.js";
import { PublicStreams } from "./public-streams.js";

export type StreamRequests = Pick<RequestHandlers, "readStream">;

export class EdgeStreams {
  private readonly publics: PublicStreams;
  private readonly accounts: AccountStreams;
  private readonly stopObserving: () => void;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.publics = new PublicStreams(venue, onFault);
    this.accounts = new AccountStreams(venue, onFault);
    this.stopObserving = venue.observe({ onCommand: (applied) => this.onCommand(applied) });
  }

  requestsOf(link: () => CoreLink): StreamRequests {
    return this.accounts.requestsOf(link);
  }

  noticesOf(link: () => CoreLink): NoticeHandlers<EdgeNotice> {
    return { ...this.publics.noticesOf(link), ...this.accounts.noticesOf(link) };
  }

  /** The edge is gone. */
  leave(follower: EdgeFollower): void {
    this.publics.leave(follower);
    this.accounts.leave(follower);
  }

  stop(): void {
    this.stopObserving();
    this.publics.stop();
    this.accounts.stop();
  }

  private onCommand(applied: Applied): void {
    const { publics } = this;
    // First and outside the try block: a fault of a public stream must not lose a private frame.
    this.accounts.onCommand(applied);
    try {
      if (publics.needsEvents) {
        this.venue.views.emitPublicEvents(applied, {
          onTrade: (symbol, trade) => publics.onTrade(symbol, trade),
          onBlock: (number) => publics.onBlock(number),
          onSessionClosed: () => undefined,
        });
      }
      publics.touchAll();
    } catch (error) {
      this.onFault(error);
    }
  }
}
