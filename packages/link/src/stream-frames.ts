/**
 * The part of the table of frames about streams: 384 to 447 are notices, 256 to 319 requests.
 *
 * An edge follows a public stream while sockets of it read the stream. It gets the state first, then what
 * changes, each once for all its sockets.
 */

import {
  Block,
  BlockNumber,
  Candle,
  Nullable,
  PRIVATE_STREAMS,
  RESOLUTIONS,
  Ticker,
  TimeMs,
  Trade,
  VenueStatus,
} from "@perpgate/protocol";
import {
  AccountFrame,
  DepositsFrame,
  FillsFrame,
  OrdersFrame,
  PositionsFrame,
  PreconfirmFrame,
} from "@perpgate/protocol/operations";
import { Type } from "typebox";
import { notice, requestRule } from "./frame-rules.js";
import {
  count,
  decimal,
  enumOf,
  flag,
  levels,
  list,
  named,
  optional,
  text,
  type ValueOf,
} from "./kinds.js";
import { PUBLISHED_LEVELS } from "./published-side.js";
import { shaped } from "./schema-kind.js";

/** Of one notice; a round with more has several. */
export const MAX_TRADES = 4_096;

const stream = text(64);
const symbol = text(32);

/** `book.<symbol>` after the command `seq`. */
const BOOK = { symbol, seq: count(), block: count(), time: shaped(TimeMs) };
const sum = count(0xffff_ffff);

/** What a command changed for an account, by stream, in the shape of the stream's frames. */
const PRIVATE = {
  preconfirms: shaped(PreconfirmFrame),
  orders: shaped(OrdersFrame),
  positions: shaped(PositionsFrame),
  fills: shaped(FillsFrame),
  account: shaped(AccountFrame),
  deposits: shaped(DepositsFrame),
};
const privateUpdate = named(PRIVATE);
export type PrivateUpdate = ValueOf<typeof privateUpdate>;

/** What an edge adds to the venue's status. */
export const OF_THE_EDGE = ["release", "region", "epoch", "linkMs"] as const;

export const STREAM_NOTICES = {
  follow: notice(
    384,
    "edge",
    { stream },
    "Sockets of the edge read a public stream, as the contract names it, or `markets`. The core sends its state, then changes.",
  ),
  unfollow: notice(385, "edge", { stream }, "None of its sockets do any more."),
  markets: notice(
    386,
    "core",
    { symbols: list(symbol, 65_536) },
    "Listed markets, in listing order: the state of `markets`.",
  ),
  bookSnapshot: notice(
    387,
    "core",
    {
      ...BOOK,
      tick: decimal,
      lot: decimal,
      bids: levels(PUBLISHED_LEVELS),
      asks: levels(PUBLISHED_LEVELS),
      sum,
    },
    "A book, best levels first: for an edge that begins, and for one that did not read fast enough for a delta.",
  ),
  bookDelta: notice(
    388,
    "core",
    {
      ...BOOK,
      bids: levels(2 * PUBLISHED_LEVELS),
      asks: levels(2 * PUBLISHED_LEVELS),
      sum,
    },
    "What has changed since the last frame of the book, at most once per 10 ms.",
  ),
  trades: notice(
    389,
    "core",
    { symbol, trades: list(shaped(Trade), MAX_TRADES) },
    "Trades of a market, each once, oldest first.",
  ),
  ticker: notice(390, "core", { ticker: shaped(Ticker) }, "At most ten a second."),
  candles: notice(
    391,
    "core",
    { symbol, resolution: enumOf(RESOLUTIONS), candles: list(shaped(Candle), 2) },
    "The previous candle and the current one, at most ten times a second.",
  ),
  status: notice(
    392,
    "core",
    { status: shaped(Type.Omit(VenueStatus, [...OF_THE_EDGE, "cluster"])) },
    "The venue's status, as stage, version or the status of a market changes.",
  ),
  block: notice(393, "core", { block: shaped(Block) }, "A block that was sealed."),
  asOf: notice(
    394,
    "core",
    {
      position: count(),
      time: shaped(TimeMs),
      block: shaped(Nullable(BlockNumber)),
    },
    "Tickers and status that the edge has are those of this position and time; `block` is the last sealed one.",
  ),
  privateUpdate: notice(
    400,
    "core",
    { accounts: list(count(), 65_536), updates: list(privateUpdate, PRIVATE_STREAMS.length) },
    "What one command changed, for each of the accounts, on the streams that the edge follows.",
  ),
  privateBroken: notice(
    401,
    "core",
    { account: count(), seq: count() },
    "What the command changed cannot be read: sockets that follow the account and have less than it close.",
  ),
  unfollowAccount: notice(
    402,
    "edge",
    { account: count(), stream: enumOf(PRIVATE_STREAMS) },
    "No socket of the edge reads the stream of the account any more.",
  ),
  connectionsLost: notice(
    403,
    "core",
    {},
    "The log has ended the connections of all sessions of this core: their sockets close.",
  ),
};

export const STREAM_REQUESTS = {
  readStream: requestRule(
    256,
    { session: count(), stream: enumOf(PRIVATE_STREAMS), since: optional(count()) },
    {
      isGap: flag,
      updates: list(privateUpdate, 65_536),
      seq: count(),
      isLast: flag,
    },
    "The edge follows a stream of the session's account. Without `since`: the state at `seq`. With it: changes after it, up to `seq`, a page; a gap, if they are not kept, with the state. What comes after `seq` follows as `privateUpdate` if the page is the last.",
  ),
  connectSession: requestRule(
    258,
    { session: count() },
    {},
    "The session has its first socket at the edge. Answered once the log has it.",
  ),
  disconnectSession: requestRule(
    260,
    { session: count(), isAgain: flag },
    {},
    "The session has lost its last socket at the edge; `isAgain`: what a closed socket had in flight is answered. Answered once the log has it.",
  ),
};
