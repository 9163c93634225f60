/**
 * A real venue in a folder of its own behind a real gateway, with the time in the test's hands.
 *
 * Nothing ticks automatically: `advance` moves the clock and submits the ticks that would have come, so
 * that funding, expiry, blocks and staleness happen when a test says so.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type CoreLink, CoreRouter, EdgeLink, memoryTransport } from "@perpgate/link";
import { DEFAULT_MARKETS, stepOf, toSteps } from "@perpgate/protocol";
import {
  type Attestation,
  type AttestorKeys,
  type CheckpointOptions,
  Core,
  DEFAULT_PARAMETERS,
  NO_EVIDENCE,
  type PromiseOptions,
  Venue,
  type VenueCommand,
  type VenueParameters,
  venueConfigOf,
} from "@perpgate/venue";
import { onTestFinished } from "vitest";
import { RpcContractWallets } from "../../auth/contract-wallets.js";
import { NonceIssuer } from "../../auth/nonce-issuer.js";
import type { SignInRules } from "../../auth/sign-in.js";
import { DEFAULT_BOUND_SESSION_MS } from "../../auth/siwe-rules.js";
import { Edge } from "../../edge.js";
import { type LimitSettings, UNLIMITED } from "../../limits/limit-settings.js";
import { AddressLimits } from "../../limits/limits.js";
import {
  type GatewayChanges,
  type RunningGateway,
  runGateway,
} from "../../testing/running-gateway.js";
import type { SocketLimits } from "../../ws/socket-limits.js";
import { StreamServer } from "../../ws/stream-server.js";
import type { Connect, HeldOrders } from "./held-orders.js";

export const START_MS = Date.parse("2026-06-01T12:00:00Z");
export const PRICES: Readonly<Record<string, number>> = { BTCUSD: 65_000, ETHUSD: 3_200 };
const TICK_MS = 200;
const MAX_LEAD_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Tests move such a clock by two minutes at most without meaning a new hour. */
const WITHIN_HOUR_MS = 150_000;

/**
 * A start for venues whose clients sign with this machine's clock. The venue's clock is stopped unless a
 * test moves it, and a message may be ten minutes old but only one ahead: so it is set four minutes ahead,
 * or up to six and a half where a test would otherwise meet the funding of a full hour. Moved by two
 * minutes, it is still less than ten ahead.
 */
export function startAheadOfClients(nowMs: number = Date.now()): number {
  const startMs = nowMs + 240_000;
  const hourMs = Math.ceil(startMs / HOUR_MS) * HOUR_MS;
  return hourMs - startMs > WITHIN_HOUR_MS ? startMs : hourMs + 1_000;
}

export interface VenueChanges {
  readonly outboxCommands?: number;
  /** Rows of the history that are kept; all by default. */
  readonly retention?: { readonly hotMs: number };
  /** Where log and history are written, and the history's rows made: in the caller's thread by default. */
  readonly commit?: "thread";
  readonly directory?: string;
  readonly startMs?: number;
  /** What the wall clock says at a time; the same, unless it is wrong. */
  readonly clock?: (nowMs: number) => number;
  readonly limits?: Partial<LimitSettings>;
  readonly signIn?: Partial<SignInRules>;
  readonly cohort?: "open" | "allowlist" | "closed";
  readonly parameters?: Partial<VenueParameters>;
  readonly rpc?: ReadonlyMap<number, string>;
  readonly sockets?: Partial<SocketLimits>;
  readonly server?: Pick<GatewayChanges, "trustProxy" | "origins" | "udf" | "monotonic" | "region">;
  readonly http?: GatewayChanges["limits"];
  readonly metrics?: GatewayChanges["metrics"];
  /** The edge has a router, and links again to the core. */
  readonly isRouted?: boolean;
  /** Holds orders on their way to the core. */
  readonly held?: HeldOrders;
  /** Keys of the attestors, and the intake of their votes. */
  readonly attestors?: AttestorKeys;
  readonly attestation?: (venue: Venue) => Attestation;
  /** Receipts and the transparency log; none by default. */
  readonly promises?: PromiseOptions;
  /** Snapshots, and the count of what the venue owes; none by default. */
  readonly checkpoints?: CheckpointOptions;
}

type Over = (connect: Connect) => Connect;

export interface RunningVenue extends RunningGateway {
  readonly venue: Venue;
  readonly edge: Edge;
  readonly directory: string;
  readonly nonces: NonceIssuer;
  readonly streams: StreamServer;
  /** Ends all links to the core. An edge with a router links again, once `join` was called. */
  cut(): void;
  join(): void;
  /** A further link to the core, as another edge has. `over`: what its frames pass on their way. */
  connect(over?: Over): Promise<EdgeLink>;
  /** What failed inside the streams. */
  readonly streamFaults: readonly object[];
  /** What failed in the core. */
  readonly coreFaults: readonly unknown[];
  /** What the log says of sockets that ended. */
  readonly socketEndings: readonly object[];
  nowMs(): number;
  /** Moves time on, with its ticks; an index that was set stays fresh by default. */
  advance(ms: number): Promise<void>;
  /** Moves the clock alone, as it is while nothing ticks. */
  skip(ms: number): void;
  setIndex(symbol: string, price: number): Promise<void>;
  execute(command: VenueCommand): Promise<void>;
  /** Ends gateway and venue; the folder stays until the test ends. */
  stop(): Promise<void>;
}

const SEGMENT_BYTES = 2 ** 20;

/** `atEnd` is when to stop: `afterAll` for a venue that all tests of a file share. */
export async function runVenue(
  changes: VenueChanges = {},
  atEnd: (stop: () => Promise<void> | void) => void = onTestFinished,
): Promise<RunningVenue> {
  const directory = changes.directory ?? newFolder(atEnd);
  const time = { nowMs: changes.startMs ?? START_MS };
  const clock = () => changes.clock?.(time.nowMs) ?? time.nowMs;
  const nonces = new NonceIssuer(new Uint8Array(32).fill(1));
  const venue = await Venue.open({
    directory,
    config: venueConfigOf(DEFAULT_MARKETS, { ...DEFAULT_PARAMETERS, ...changes.parameters }),
    listing: DEFAULT_MARKETS,
    cohort: changes.cohort ?? "open",
    attestors: changes.attestors ?? null,
    clock,
    monotonic: () => time.nowMs,
    checkpoints: changes.checkpoints ?? null,
    ticks: false,
    // Starting two threads is half of the processor time that a venue takes to open.
    commit: changes.commit ?? "inline",
    segmentBytes: SEGMENT_BYTES,
    ...(changes.outboxCommands === undefined ? {} : { outboxCommands: changes.outboxCommands }),
    ...(changes.promises === undefined ? {} : { promises: changes.promises }),
    ...(changes.retention === undefined ? {} : { retention: changes.retention }),
  });
  const limits = { ...UNLIMITED, ...changes.limits };
  const contracts = new RpcContractWallets(changes.rpc ?? new Map());
  const attestation = changes.attestation?.(venue);
  const coreFaults: unknown[] = [];
  const streamFaults: object[] = [];
  const core = new Core({
    venue,
    limits,
    attestation,
    onFault: (error, part) => {
      if (part === "streams" || part === "readStream") streamFaults.push({ err: error });
      else coreFaults.push(error);
    },
  });
  const { held } = changes;
  const links: CoreLink[] = [];
  const connect = (over: Over = (connectEdge) => held?.before(connectEdge) ?? connectEdge) => {
    const transport = memoryTransport({ isCoded: process.env.PERPGATE_CODED_LINK === "1" });
    links.push(core.connect(transport.connectCore));
    return over(transport.connectEdge);
  };
  let isCut = false;
  const reconnect = async (): Promise<Connect> => {
    if (isCut) throw new Error("cut");
    return connect();
  };
  const link =
    changes.isRouted === true
      ? new CoreRouter([{ name: "core", connect: reconnect }], {
          switched: () => undefined,
          lost: () => undefined,
        })
      : new EdgeLink(connect());
  const edge = new Edge({
    link,
    limits,
    signIn: {
      domains: "any",
      chainIds: undefined,
      nonce: "any",
      requireKeyBinding: false,
      maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
      ...changes.signIn,
    },
    services: { nonces, contracts },
  });
  await link.ready;
  const socketEndings: object[] = [];
  const streams = await StreamServer.open({
    edge,
    seq: () => venue.seq,
    log: {
      info: (fields) => socketEndings.push(fields),
      error: (fields) => streamFaults.push(fields),
    },
    limits: changes.sockets ?? {},
    release: "test",
  });
  const gateway = await runGateway(
    {
      streams,
      nonces,
      clock,
      addressLimits: new AddressLimits(limits),
      clientLimits: limits,
      edge,
      ...changes.server,
      ...(changes.http === undefined ? {} : { limits: changes.http }),
      ...(changes.metrics === undefined ? {} : { metrics: changes.metrics }),
    },
    atEnd,
  );
  const execute = async (command: VenueCommand) => {
    await venue.submitted(command, NO_EVIDENCE, () => undefined);
  };
  const slots = new Map<number, number>();
  const setIndex = async (symbol: string, price: number) => {
    const units = venue.listing.named(symbol);
    if (units === undefined) throw new Error(`${symbol} is not listed`);
    const indexTicks = toSteps(price, stepOf(units.tickSize));
    const market = units.number;
    // The first price of a slot counts: a second one at the same time is of the next slot. The engine
    // takes no slot far ahead, so time follows.
    const slot = Math.max(Math.floor(venue.nowMs() / TICK_MS), (slots.get(market) ?? 0) + 1);
    slots.set(market, slot);
    while (slot * TICK_MS > venue.nowMs() + MAX_LEAD_MS) {
      time.nowMs += TICK_MS;
      await execute({ kind: "Tick", slot: Math.floor(venue.nowMs() / TICK_MS) });
    }
    await execute({ kind: "UpdateIndex", stampMs: venue.nowMs(), market, indexTicks, slot });
  };
  const stop = async () => {
    await gateway.gateway.drain(50);
    link.close();
    core.stop();
    await venue.close();
  };
  atEnd(stop);
  for (const [symbol, price] of Object.entries(PRICES)) await setIndex(symbol, price);
  return {
    ...gateway,
    venue,
    edge,
    directory,
    nonces,
    streams,
    connect: async (over) => {
      const other = new EdgeLink(connect(over));
      other.on({ sessionChanged: () => undefined, sessionEnded: () => undefined });
      await other.ready;
      return other;
    },
    streamFaults,
    coreFaults,
    socketEndings,
    nowMs: () => time.nowMs,
    execute,
    setIndex,
    stop,
    join: () => {
      isCut = false;
    },
    cut: () => {
      isCut = true;
      for (const each of links.splice(0)) each.close("cut");
    },
    skip: (ms) => {
      time.nowMs += ms;
    },
    advance: async (ms) => {
      const end = time.nowMs + ms;
      while (time.nowMs + TICK_MS <= end) {
        time.nowMs += TICK_MS;
        await execute({ kind: "Tick", slot: Math.floor(venue.nowMs() / TICK_MS) });
        // Sockets and timers get their turn, as between the ticks of a clock.
        await setImmediate();
      }
      time.nowMs = end;
    },
  };
}

/** An empty folder, gone when the test ends. */
export function newFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-gateway-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
