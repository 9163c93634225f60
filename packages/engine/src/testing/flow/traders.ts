/**
 * Who trades: addresses and their sessions, as far as a client knows them (keys, nonces, what was
 * sent), and the sign-in commands, right and wrong.
 */

import type { Random } from "@perpgate/protocol/random";
import type { AmendOrder, ChangeMargin, Command, OpenSession, PlaceOrder } from "../../commands.js";
import type { Account } from "../reference/state.js";
import type { ReferenceVenue } from "../reference/venue.js";
import { USD } from "./listing.js";
import type { Profile } from "./profiles.js";

const DAY_MS = 86_400_000;

export interface Signed {
  readonly number: number;
  readonly opened: OpenSession;
  key: string;
  oldKey: string;
  nextNonce: number;
  /** What was sent lately, to be sent again. */
  sent: (PlaceOrder | AmendOrder | ChangeMargin)[];
}

export interface Trader {
  address: string;
  session: Signed | null;
}

export class Traders {
  readonly all: Trader[];

  constructor(
    private readonly random: Random,
    private readonly profile: Profile,
    private readonly venue: ReferenceVenue,
    private readonly stamp: () => number,
  ) {
    this.all = Array.from({ length: profile.traders }, () => {
      return { address: random.hex(40), session: null };
    });
  }

  /** The session if the venue still has it, even if it expired. */
  sessionOf(trader: Trader): Signed | null {
    const { session } = trader;
    return session !== null && this.venue.state.sessions.has(session.number) ? session : null;
  }

  /** Who lost everything comes back as somebody else: a long run needs money on both sides. */
  replaceIfBroke(trader: Trader, account: Account): boolean {
    const { random, profile, venue } = this;
    const poor = Number(account.wallet) < profile.config.devCreditMicros / 50;
    const idle = account.positions.every((each) => each.lots === 0n && each.orders.length === 0);
    const room = venue.state.accounts.length < Math.max(160, profile.traders * 2);
    if (!poor || !idle || !room || random.chance(0.8)) return false;
    trader.address = random.hex(40);
    trader.session = null;
    return true;
  }

  *signIn(trader: Trader): Generator<Command> {
    const { random, profile } = this;
    const { time, markets } = this.venue.state;
    const capped = random.chance(profile.capped);
    const some = markets.map((each) => each.number).filter(() => random.chance(0.6));
    const opened: OpenSession = {
      kind: "OpenSession",
      stampMs: this.stamp(),
      address: trader.address,
      key: random.hex(16),
      tokenHash: random.hex(64),
      expiresAtMs: time + (capped && random.chance(0.3) ? random.int(2_000, 60_000) : DAY_MS),
      siweNonce: random.hex(16),
      siweNonceUntilMs: time + random.int(1_000, 600_000),
      maxOrderNotionalMicros: capped && random.chance(0.6) ? random.int(1, 4_000) * USD : 0,
      maxNotionalMicros:
        capped && random.chance(0.6) ? random.int(1, random.pick([300, 20_000])) * USD : 0,
      markets: capped && random.chance(0.4) ? some : [],
    };
    yield opened;
    const { state } = this.venue;
    if (!state.sessions.has(state.position)) return;
    const { key } = opened;
    const nextNonce = random.chance(0.1) ? random.int(0, 2 ** 40) : 0;
    trader.session = { number: state.position, opened, key, oldKey: key, nextNonce, sent: [] };
  }

  /** A sign-in that must not work, or an attempt on somebody else's session. */
  *wrongSignIn(trader: Trader): Generator<Command> {
    const { random } = this;
    const session = this.sessionOf(trader);
    if (session === null) return;
    const { opened } = session;
    const fresh = { siweNonce: random.hex(16), tokenHash: random.hex(64), stampMs: this.stamp() };
    const { time } = this.venue.state;
    const kind = random.weighted({ nonce: 1, token: 1, expired: 1, market: 1 });
    if (kind === "nonce") yield { ...opened, ...fresh, siweNonce: opened.siweNonce };
    if (kind === "token") yield { ...opened, ...fresh, tokenHash: opened.tokenHash };
    if (kind === "expired") yield { ...opened, ...fresh, expiresAtMs: time - random.int(0, 5) };
    if (kind === "market") yield { ...opened, ...fresh, markets: [0, random.pick([-1, 9, 1.5])] };
  }

  *rotate(trader: Trader): Generator<Command> {
    const { random } = this;
    const session = this.sessionOf(trader);
    if (session === null) return;
    const oldKey = random.chance(0.8) ? session.key : session.oldKey;
    const newKey = random.hex(16);
    const stampMs = this.stamp();
    yield { kind: "RotateSession", stampMs, session: session.number, oldKey, newKey };
    if (this.venue.state.sessions.get(session.number)?.key !== newKey) return;
    session.oldKey = oldKey;
    session.key = newKey;
  }
}
