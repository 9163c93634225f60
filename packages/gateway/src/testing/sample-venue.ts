/**
 * A venue for tests of the gateway: it executes nothing, notes what it was asked, and answers each
 * question with one fixed, valid value. It is not part of the package's exports.
 */

import { CoreLink, EdgeLink, memoryTransport, type RequestHandlers } from "@perpgate/link";
import { RpcContractWallets } from "../auth/contract-wallets.js";
import { NonceIssuer } from "../auth/nonce-issuer.js";
import { DEFAULT_BOUND_SESSION_MS } from "../auth/siwe-rules.js";
import { Edge } from "../edge.js";
import { UNLIMITED } from "../limits/limit-settings.js";
import { SAMPLE_SESSION } from "./sample-session.js";
import {
  ACCOUNT,
  BLOCK,
  BOOK,
  BRIDGE,
  DEPOSIT,
  FILL,
  HASH,
  HONESTY,
  LEAF,
  LEDGER_ENTRY,
  LIABILITY,
  MARGIN_CHANGE,
  OPEN_WITHDRAWAL,
  ORDER,
  PAYMENT,
  POSITION,
  QUEUE,
  RESERVES,
  SAMPLE_ACK,
  SESSION_INFO,
  STATUS,
  TICKER,
  VOTE,
  WITHDRAWAL,
} from "./sample-values.js";

export interface SampleVenue {
  /** Linked to a core whose handlers are the sample's. */
  readonly edge: Edge;
  /** The calls that it received: the name and the arguments. */
  readonly calls: unknown[][];
  /** What failed in the core. */
  readonly faults: unknown[];
}

/** `changes` are what the core does instead. */
export async function sampleVenue(changes: Partial<RequestHandlers> = {}): Promise<SampleVenue> {
  const calls: unknown[][] = [];
  const faults: unknown[] = [];
  const told =
    <Body, Answer>(name: string, value: Answer) =>
    (body: Body): Answer => {
      calls.push([name, body]);
      return value;
    };
  const trade = { id: "42-0", price: 65000.1, size: 0.5, side: "long" as const, time: 1 };
  const candle = { time: 0, open: 1, high: 2, low: 0.5, close: 1.5, volume: 3, trades: 4 };
  const acked = { result: SAMPLE_ACK };
  const canceled = { orderId: "42", status: "canceled" as const, remainingSize: 0.5 };
  const handlers: RequestHandlers = {
    getMarkets: told("getMarkets", { result: [] }),
    getHonesty: told("getHonesty", { result: HONESTY }),
    getBook: told("getBook", { result: BOOK }),
    getTickers: told("getTickers", { result: [TICKER] }),
    getLatestBlock: told("getLatestBlock", { result: BLOCK }),
    getTime: told("getTime", { result: { time: 1_700_000_000_000 } }),
    getStatus: told("getStatus", { status: STATUS }),
    getReadiness: told("getReadiness", { conflict: undefined }),
    getTicker: told("getTicker", { result: TICKER }),
    getTrades: told("getTrades", { result: [trade] }),
    getCandles: told("getCandles", { result: [candle] }),
    getFunding: told("getFunding", { result: [{ time: 0, rate: -0.0001, markPrice: 65000 }] }),
    getBlock: told("getBlock", { result: BLOCK }),
    getSessions: told("getSessions", { sessions: [{ info: SESSION_INFO, message: "" }] }),
    getAccount: told("getAccount", { result: ACCOUNT }),
    getOrders: told("getOrders", { result: [ORDER] }),
    getOrder: told("getOrder", { result: ORDER }),
    getPositions: told("getPositions", { result: [POSITION] }),
    getFills: told("getFills", { result: [FILL] }),
    getLedger: told("getLedger", { result: [LEDGER_ENTRY] }),
    getFundingPayments: told("getFundingPayments", { result: [PAYMENT] }),
    getPreconfirm: told("getPreconfirm", {
      result: {
        ack: SAMPLE_ACK,
        block: 7,
        index: 0,
        leaf: LEAF,
        path: [HASH],
        log: { checkpoint: "venue.example/log\n7\n…\n", path: [HASH] },
      },
    }),
    getPreconfirmProof: told("getPreconfirmProof", { result: "c2sp.org/tlog-proof@v1\n" }),
    registerDeposit: told("registerDeposit", { result: DEPOSIT }),
    getBridge: told("getBridge", { result: BRIDGE }),
    submitDepositVotes: told("submitDepositVotes", {
      result: { refusals: [null, "vote_outdated"] },
    }),
    getDepositQueue: told("getDepositQueue", { result: QUEUE }),
    getDeposits: told("getDeposits", { result: [DEPOSIT] }),
    getDeposit: told("getDeposit", { result: { ...DEPOSIT, votes: [VOTE] } }),
    requestWithdrawal: told("requestWithdrawal", { result: WITHDRAWAL }),
    getWithdrawals: told("getWithdrawals", { result: [WITHDRAWAL] }),
    getReserves: told("getReserves", { result: RESERVES }),
    getLiability: told("getLiability", { result: LIABILITY }),
    getOpenWithdrawals: told("getOpenWithdrawals", {
      result: { withdrawals: [OPEN_WITHDRAWAL], next: "43" },
    }),
    getWithdrawal: told("getWithdrawal", { result: { ...WITHDRAWAL, votes: [] } }),
    readStream: told("readStream", { isGap: false, updates: [], seq: 1, isLast: true }),
    connectSession: told("connectSession", {}),
    disconnectSession: told("disconnectSession", {}),
    tlogCheckpoint: told("tlogCheckpoint", NO_FILE),
    tlogSuccessors: told("tlogSuccessors", NO_FILE),
    tlogPolicy: told("tlogPolicy", NO_FILE),
    tlogTile: told("tlogTile", NO_FILE),
    tlogAcks: told("tlogAcks", NO_FILE),
    awaitPosition: () => ({ isReached: true }),
    getSession: ({ session }) => ({ found: session === 7 ? SAMPLE_SESSION : undefined }),
    prepareSignIn: () => ({ markets: [], unlisted: undefined, isGranted: false }),
    signIn: told("signIn", { session: 8, account: 1 }),
    prepareSessionChange: () => ({ current: SAMPLE_SESSION }),
    rotateSession: told("rotateSession", { expiresAt: 1 }),
    endSession: told("endSession", { result: { endedAt: 1 } }),
    endSessionById: told("endSessionById", { result: { endedAt: 1 } }),
    endOtherSessions: told("endOtherSessions", { result: { ended: ["41"] } }),
    setSessionOptions: told("setSessionOptions", {}),
    placeOrder: told("placeOrder", acked),
    amendOrder: told("amendOrder", acked),
    changeMargin: told("changeMargin", { result: MARGIN_CHANGE }),
    placeBatch: told("placeBatch", {
      result: [
        { ack: SAMPLE_ACK, canceled: undefined, error: undefined },
        { ack: undefined, canceled, error: undefined },
      ],
    }),
    cancelOrder: told("cancelOrder", { result: canceled }),
    cancelAllOrders: told("cancelAllOrders", { result: { canceled: ["42"] } }),
    cancelOrdersAfter: told("cancelOrdersAfter", { result: { cancelAt: null } }),
    ...changes,
  };
  const transport = memoryTransport();
  new CoreLink(transport.connectCore, {
    handlers,
    notices: {
      follow: () => undefined,
      unfollow: () => undefined,
      unfollowAccount: () => undefined,
    },
    window: 1_000,
    isReplicated: false,
    position: () => 1,
    timeMs: () => 0,
    epoch: () => 0,
    isLeading: () => true,
    whenSettled: (callback) => callback(),
    onFault: (error) => faults.push(error),
  });
  const link = new EdgeLink(transport.connectEdge);
  const edge = new Edge({
    link,
    limits: UNLIMITED,
    signIn: {
      domains: "any",
      chainIds: undefined,
      nonce: "any",
      requireKeyBinding: false,
      maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
    },
    services: {
      nonces: new NonceIssuer(new Uint8Array(32).fill(1)),
      contracts: new RpcContractWallets(new Map()),
    },
  });
  await link.ready;
  return { edge, calls, faults };
}

const NO_FILE = { file: undefined };
