/**
 * Money that a trader moves between its wallet and the margin of a position: often to the micro where
 * the rule begins to refuse, and now and then wrong on purpose.
 */
import type { Random } from "@perpgate/protocol/random";
import type { ChangeMargin } from "../../commands.js";
import { removable } from "../reference/position-margin.js";
import { type Account, type Market, positionOf } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Signed } from "./traders.js";

export class Margins {
  constructor(
    private readonly random: Random,
    private readonly venue: ReferenceVenue,
    private readonly stamp: () => number,
  ) {}

  any(session: Signed, account: Account): ChangeMargin {
    const { random } = this;
    const { markets } = this.venue.state;
    const held = markets.filter(({ number }) => account.positions[number]?.lots);
    const market = random.pick(held.length > 0 && random.chance(0.95) ? held : markets);
    const change: ChangeMargin = {
      kind: "ChangeMargin",
      stampMs: this.stamp(),
      session: random.chance(0.01) ? random.int(1, 50) : session.number,
      key: random.chance(0.01) ? "00" : session.key,
      nonce: random.chance(0.03) ? random.int(0, session.nextNonce + 1) : session.nextNonce++,
      market: random.chance(0.01) ? 17 : market.number,
      amountMicros: this.amount(account, market),
    };
    session.sent.push(change);
    return change;
  }

  private amount(account: Account, market: Market): number {
    const { random } = this;
    const position = positionOf(this.venue.state, account.number, market.number);
    const wallet = Number(account.wallet);
    const most = market.mark === 0n ? 0 : Number(removable(this.venue.state, market, position));
    const kind = random.weighted({ add: 30, all: 4, remove: 40, most: 20, over: 10, wrong: 3 });
    return {
      add: Math.ceil((wallet / 10) * random.next()) || 1,
      all: wallet + random.int(0, 1),
      remove: -Math.ceil(most * random.next()) || -1,
      most: -most || -1,
      over: -most - random.int(1, 3),
      wrong: random.pick([0, 0.5, 2 ** 53]),
    }[kind];
  }
}
