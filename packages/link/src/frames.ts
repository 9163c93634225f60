/**
 * The table of frames. Encoder, decoder, types and docs/link.md derive from it.
 *
 * A frame is a request of an edge, the core's answer to one, its refusal of one, or a notice of either
 * side. A request has an even type, its answer the next odd one. A number is never used again for
 * another meaning.
 */

import {
  Chain,
  Deposit,
  DepositQueue,
  DepositQueueBody,
  LogConflict,
  SessionInfo,
  Token,
  VenueStatus,
  VotesAnswer,
  VotesBody,
} from "@perpgate/protocol";
import {
  getAccount,
  getBlock,
  getBook,
  getBridge,
  getCandles,
  getDeposit,
  getDeposits,
  getFills,
  getFunding,
  getFundingPayments,
  getHonesty,
  getLatestBlock,
  getLedger,
  getLiability,
  getMarkets,
  getOpenWithdrawals,
  getOrder,
  getOrders,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
  getReserves,
  getTicker,
  getTickers,
  getTime,
  getTrades,
  getWithdrawal,
  getWithdrawals,
} from "@perpgate/protocol/operations";
import { Type } from "typebox";
import {
  accountRead,
  type LinkEnd,
  notice,
  publicRead,
  requestRule,
  unsigned,
} from "./frame-rules.js";
import { bytes, count, enumOf, flag, list, optional, record, text, type ValueOf } from "./kinds.js";
import { ORDER_REQUESTS } from "./order-frames.js";
import type { LinkRefusal } from "./refusal-kind.js";
import { shaped } from "./schema-kind.js";
import { MAX_KEY_BYTES, SESSION_REQUESTS } from "./session-frames.js";
import { OF_THE_EDGE, STREAM_NOTICES, STREAM_REQUESTS } from "./stream-frames.js";

export type { LinkEnd };

/** Both sides of a link have the same. */
export const LINK_VERSION = 1;

/** A link with a longer frame ends. A page of the largest answers has a tenth of it. */
export const MAX_FRAME_BYTES = 1 << 26;
/** Of an edge. The largest signed body has a twentieth of it. */
export const MAX_EDGE_FRAME_BYTES = 1 << 22;

export const NOTICES = {
  hello: notice(
    1,
    "edge",
    { version: count(65_535) },
    "The first frame of an edge. Another version ends the link.",
  ),
  welcome: notice(
    2,
    "core",
    {
      version: count(65_535),
      window: count(1_000_000),
      isReplicated: flag,
      isLeading: flag,
      timeMs: count(),
    },
    "The core's answer to `hello`: how many requests may be in flight, whether the log has other writers, whether this core leads, and the venue's time.",
  ),
  clock: notice(
    6,
    "core",
    { timeMs: count() },
    "The venue's time, once a second: the edge says by it until when a request may be executed.",
  ),
  bye: notice(3, "either", { reason: text(1_024) }, "The last frame: why the link ends."),
  ping: notice(
    4,
    "either",
    {},
    "Sent every 200 ms between processes; 2 s of silence end the link.",
  ),
  role: notice(
    8,
    "core",
    { isLeading: flag },
    "Whether this core leads from now on, in the epoch of the frame. One that leads no more answers nothing that is in flight.",
  ),
  sessionChanged: notice(
    104,
    "core",
    { session: count(), publicKey: bytes(MAX_KEY_BYTES) },
    "A session was tied to another key.",
  ),
  sessionEnded: notice(105, "core", { session: count() }, "A session was ended, or has expired."),
  ...STREAM_NOTICES,
};

/** Of a file of the transparency log: as served, or undefined if there is none. */
const FILE = { file: optional(bytes(MAX_FRAME_BYTES >> 1)) };
/** Blocks, and so tiles, are counted in fewer than 2^53. */
const TILE = {
  level: count(63),
  index: count(),
  width: count(256),
  isEntries: flag,
};

export const REQUESTS = {
  getMarkets: publicRead(16, getMarkets),
  getBook: publicRead(18, getBook),
  getTicker: publicRead(20, getTicker),
  getTickers: publicRead(22, getTickers),
  getTrades: publicRead(24, getTrades),
  getCandles: publicRead(26, getCandles),
  getFunding: publicRead(28, getFunding),
  getBlock: publicRead(30, getBlock),
  getLatestBlock: publicRead(32, getLatestBlock),
  getHonesty: publicRead(34, getHonesty),
  getTime: publicRead(36, getTime),
  getStatus: requestRule(
    38,
    {},
    { status: shaped(Type.Omit(VenueStatus, OF_THE_EDGE)) },
    "The venue's status; the edge adds its release, its region, and what it sees of the link.",
  ),
  getReadiness: requestRule(
    50,
    {},
    { conflict: optional(shaped(LogConflict)) },
    "Refused with `not_ready`, which names the first reason, while the core is not ready.",
  ),
  tlogCheckpoint: requestRule(40, {}, FILE, "The published checkpoint of the transparency log."),
  tlogSuccessors: requestRule(42, {}, FILE, "The notes that say which log key succeeded which."),
  tlogPolicy: requestRule(44, {}, FILE, "Who must have cosigned a published checkpoint."),
  tlogTile: requestRule(46, TILE, FILE, "A tile of hashes, or a bundle of entries."),
  tlogAcks: requestRule(
    48,
    { block: count() },
    FILE,
    "The list of a sealed block's acknowledgements.",
  ),

  getSessions: requestRule(
    64,
    { session: count() },
    {
      sessions: list(
        record({
          info: shaped(Type.Omit(SessionInfo, ["domain", "issuedAt"])),
          message: text(65_536),
        }),
        100_000,
      ),
    },
    "The sessions of the account, each with its sign-in message, which the edge reads.",
  ),
  getOrders: accountRead(66, getOrders),
  getOrder: accountRead(68, getOrder),
  getAccount: accountRead(70, getAccount),
  getPositions: accountRead(72, getPositions),
  getFills: accountRead(74, getFills),
  getLedger: accountRead(76, getLedger),
  getFundingPayments: accountRead(78, getFundingPayments),
  getPreconfirm: accountRead(80, getPreconfirm),
  getPreconfirmProof: accountRead(82, getPreconfirmProof),
  getDeposits: accountRead(84, getDeposits),
  getDeposit: accountRead(86, getDeposit),

  registerDeposit: unsigned(
    96,
    { session: count(), chain: shaped(Chain), txHash: text(64), token: shaped(Token) },
    { result: shaped(Deposit) },
    "Registers a deposit by its transaction.",
  ),
  getWithdrawals: accountRead(320, getWithdrawals),
  getOpenWithdrawals: publicRead(324, getOpenWithdrawals),
  getReserves: publicRead(326, getReserves),
  getLiability: accountRead(328, getLiability),
  getWithdrawal: accountRead(322, getWithdrawal),
  getBridge: publicRead(98, getBridge),
  submitDepositVotes: requestRule(
    100,
    { body: shaped(VotesBody) },
    { result: shaped(VotesAnswer) },
    "Votes of attestors, whose signatures the core checks.",
  ),
  getDepositQueue: requestRule(
    102,
    {
      body: shaped(DepositQueueBody),
      bytes: bytes(65_536),
      signature: optional(text(65_536)),
    },
    { result: shaped(DepositQueue) },
    "What an attestor has to vote on; the core checks the signature of its key.",
  ),

  ...SESSION_REQUESTS,
  ...ORDER_REQUESTS,
  ...STREAM_REQUESTS,
};

/** The limits that the core counts. */
export const CORE_LIMITS = ["account-reads", "deposits", "orders", "cancels"] as const;

const COUNTED = {
  limit: enumOf(CORE_LIMITS),
  quota: count(),
  windowSeconds: count(),
  remaining: count(),
  fullInSeconds: count(),
};

/** What an answer or a refusal says besides its own fields. */
export const NOTES = record({
  counted: optional(record(COUNTED)),
  rows: count(),
  work: count(),
  isReplay: flag,
  historyBefore: count(),
});
export type Notes = ValueOf<typeof NOTES>;

export const REFUSAL_TYPE = 5;
export { LINK_REFUSAL, type LinkRefusal } from "./refusal-kind.js";

export type NoticeName = keyof typeof NOTICES;
export type RequestName = keyof typeof REQUESTS;

type NoticeFrom<S extends LinkEnd> = {
  [N in NoticeName]: (typeof NOTICES)[N]["from"] extends S ? N : never;
}[NoticeName];
/** What edges, and cores, tell each other besides what the link itself needs. */
export type EdgeNotice = Exclude<NoticeFrom<"edge">, "hello">;
export type CoreNotice = Exclude<NoticeFrom<"core">, "welcome">;

/** Whether the request changes the venue. */
export function isCommand(name: RequestName): boolean {
  return REQUESTS[name].isUnsigned || REQUESTS[name].isSigned;
}

/** By name, so that a generic function over the names keeps the fields of each. */
export type NoticeBodies = { [N in NoticeName]: ValueOf<(typeof NOTICES)[N]["body"]> };
export type RequestBodies = { [N in RequestName]: ValueOf<(typeof REQUESTS)[N]["body"]> };
export type AnswerBodies = { [N in RequestName]: ValueOf<(typeof REQUESTS)[N]["answer"]> };

/** A read of the contract that the core answers; its request has the operation's id. */
export type ReadName = {
  [N in RequestName]: (typeof REQUESTS)[N] extends { readonly isRead: true } ? N : never;
}[RequestName];

export function isReadName(id: string): id is ReadName {
  return Object.entries(REQUESTS).some(([name, rule]) => name === id && "isRead" in rule);
}

export type NoticeHandlers<N extends NoticeName = NoticeName> = {
  readonly [M in N]: (body: NoticeBodies[M]) => void;
};

export interface Stamp {
  /** Which lead of the log the frame is from. */
  readonly epoch: number;
  /** The last position that its sender has applied, or seen. */
  readonly position: number;
}

export interface NoticeFrame<N extends NoticeName = NoticeName> extends Stamp {
  readonly kind: "notice";
  readonly name: N;
  readonly body: NoticeBodies[N];
}

/** Of a request that changes the venue and that nobody signs: the engine executes an id once. */
export interface RequestTerms {
  /** Lower-case hex, 32 digits. */
  readonly id: string;
  /** By the venue's time. */
  readonly notAfterMs: number;
}

export interface RequestFrame<N extends RequestName = RequestName> extends Stamp {
  readonly kind: "request";
  readonly id: number;
  /** Sent before, to this core or another, and not answered. */
  readonly isAgain: boolean;
  /** Of an unsigned request. */
  readonly terms: RequestTerms | undefined;
  readonly name: N;
  readonly body: RequestBodies[N];
}

export interface AnswerFrame<N extends RequestName = RequestName> extends Stamp {
  readonly kind: "answer";
  readonly id: number;
  readonly notes: Notes;
  readonly name: N;
  readonly body: AnswerBodies[N];
}

export interface RefusalFrame extends Stamp {
  readonly kind: "refusal";
  readonly id: number;
  readonly notes: Notes;
  readonly body: LinkRefusal;
}

export type Frame = NoticeFrame | RequestFrame | AnswerFrame | RefusalFrame;
