/** `book.<symbol>` for edges: the published levels once, then what differs, in rounds. */

import { PublishedSide } from "@perpgate/link";
import { BookChecksum } from "@perpgate/protocol/core";
import type { BookLevels } from "../../views/book-view.js";
import { Followers } from "./followers.js";
import type { Source } from "./rounds.js";

interface Published {
  readonly checksum: BookChecksum;
  readonly bids: PublishedSide;
  readonly asks: PublishedSide;
}

export class BookSource implements Source {
  readonly followers = new Followers();
  private readonly published: Published;
  /** `changedAt()` at the last round. */
  private sentChange = -1;

  constructor(
    private readonly levels: () => BookLevels | undefined,
    /** Seq of the last command that may have changed the book. */
    private readonly changedAt: () => number,
  ) {
    const checksum = new BookChecksum();
    const side = (name: "bid" | "ask") => new PublishedSide(name, checksum);
    this.published = { checksum, bids: side("bid"), asks: side("ask") };
  }

  get hasChanged(): boolean {
    return this.changedAt() !== this.sentChange;
  }

  send(): boolean {
    this.sentChange = this.changedAt();
    const now = this.levels();
    if (now === undefined) return false;
    const { bids, asks, checksum } = this.published;
    const { tickSize, lotSize, symbol } = now.units;
    const changed = { bids: bids.update(now.bids), asks: asks.update(now.asks) };
    const { seq, block, timeMs: time } = now;
    const at = { symbol, seq, block, time, sum: checksum.value };
    const isChanged = changed.bids.length > 0 || changed.asks.length > 0;
    let whole: Pick<typeof changed, "bids" | "asks"> | undefined;
    this.followers.send(
      (follower) => {
        whole ??= { bids: bids.levels(), asks: asks.levels() };
        follower.notify("bookSnapshot", { ...at, tick: tickSize, lot: lotSize, ...whole });
      },
      isChanged ? (follower) => follower.notify("bookDelta", { ...at, ...changed }) : undefined,
    );
    return this.followers.isAnyBehind;
  }
}
