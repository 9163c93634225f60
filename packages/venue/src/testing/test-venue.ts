/** Venues on real disks for tests: a data folder, the default markets, traders without signatures. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AmendOrder,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OpenSession,
  type PlaceOrder,
  SHORT,
} from "@perpgate/engine";
import { FileSnapshots, inspectLog, type LogSeq, nodeDisk } from "@perpgate/journal";
import type { MarketDefinition } from "@perpgate/protocol";
import { venueConfigOf } from "../listing/venue-config.js";
import { type Evidence, NO_EVIDENCE } from "../record/record.js";
import { Venue } from "../venue.js";
import type { VenueOptions } from "../venue-options.js";
import type { CommandOutcome } from "../views/outcome.js";

/** The default listing, repeated here so that a child process loads no schemas. */
const TIERS = [
  { notionalUpTo: 1_000_000, maxLeverage: 50, maintenanceRate: 0.01 },
  { notionalUpTo: 5_000_000, maxLeverage: 25, maintenanceRate: 0.02 },
];
const SHARED = {
  quote: "USD",
  makerFee: 0.0002,
  takerFee: 0.0005,
  tiers: TIERS,
  index: { startPrice: 100, annualVolatility: 0.5 },
};
export const TEST_MARKETS: readonly MarketDefinition[] = [
  { ...SHARED, symbol: "BTCUSD", base: "BTC", tickSize: 0.1, lotSize: 0.00001 },
  { ...SHARED, symbol: "ETHUSD", base: "ETH", tickSize: 0.01, lotSize: 0.0001 },
];

export const KEY = "ab".repeat(32);
const PUBLIC_KEY = Buffer.alloc(32, 7);
export const START_MS = 1_800_000_000_000;

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "perpgate-venue-"));
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** Writes a snapshot at the log's end that no release can read; returns its position. */
export function writeForeignSnapshot(directory: string): LogSeq {
  const journal = join(directory, "journal");
  const log = inspectLog(nodeDisk, journal);
  if (log === undefined) throw new Error("there is no log");
  const snapshots = new FileSnapshots(nodeDisk, journal, log.logId);
  snapshots.write(log.end, [Buffer.from("a state of another form")]);
  return log.end;
}

export function testOptions(directory: string, more: Partial<VenueOptions> = {}): VenueOptions {
  return {
    directory,
    config: venueConfigOf(TEST_MARKETS),
    listing: TEST_MARKETS,
    cohort: "open",
    clock: () => START_MS,
    monotonic: () => 0,
    ticks: false,
    checkpoints: null,
    segmentBytes: 1 << 20,
    ...more,
  };
}

/** Drives a venue: every call waits until its command is durable and applied. */
export class TestVenue {
  private slot = START_MS / 200;
  private indexSlot = 0;

  private constructor(
    readonly venue: Venue,
    readonly options: VenueOptions,
  ) {}

  static async open(directory: string, more: Partial<VenueOptions> = {}): Promise<TestVenue> {
    // Starting two threads is half of the processor time that a venue takes to open.
    const options = testOptions(directory, { commit: "inline", ...more });
    const opened = new TestVenue(await Venue.open(options), options);
    opened.slot = Math.floor(opened.venue.views.timeMs / 200);
    return opened;
  }

  submit(command: Parameters<Venue["submit"]>[0], evidence: Evidence = NO_EVIDENCE) {
    return this.venue.submitted(command, evidence, (applied) => ({
      seq: applied.seq,
      outcome: this.venue.views.outcome(applied),
    }));
  }

  async index(price = 650_000): Promise<void> {
    const stampMs = this.venue.views.timeMs;
    this.indexSlot = Math.max(Math.floor(stampMs / 200), this.indexSlot + 1);
    const slot = this.indexSlot;
    await this.submit({ kind: "UpdateIndex", stampMs, market: 0, indexTicks: price, slot });
  }

  async signIn(name: number): Promise<number> {
    const { command, evidence } = signInCommand(name, "first", this.venue.views.timeMs);
    return (await this.submit(command, evidence)).seq;
  }

  order(session: number, nonce: number, side: "long" | "short", price: number, margin = 100) {
    const body = JSON.stringify({ session, nonce, side, price, margin });
    const nothing = new Uint8Array(0);
    return this.submit(orderCommand(session, nonce, side, price, margin), {
      signed: Buffer.from(body),
      signature: nothing,
      publicKey: nothing,
    });
  }

  async tick(): Promise<number> {
    this.slot++;
    const { seq } = await this.submit({ kind: "Tick", slot: this.slot });
    return seq;
  }
}

/** A sign-in message as a gateway accepts it. `address`: 40 hex digits. */
export function signInMessage(
  address: string,
  nonce: string,
  resources: readonly string[] = [],
  more: { readonly statement?: string; readonly expirationTime?: string } = {},
): string {
  const { statement, expirationTime } = more;
  return [
    "localhost wants you to sign in with your Ethereum account:",
    `0x${address}`,
    "",
    ...(statement === undefined ? [""] : [statement, ""]),
    "URI: http://localhost",
    "Version: 1",
    "Chain ID: 1",
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(START_MS).toISOString()}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(resources.length === 0 ? [] : ["Resources:", ...resources.map((uri) => `- ${uri}`)]),
  ].join("\n");
}

/** An unsigned sign-in of trader `name`; `visit` makes several of them distinct. */
export function signInCommand(name: number, visit: string, nowMs: number) {
  const hex = name.toString(16);
  const command: OpenSession = {
    kind: "OpenSession",
    stampMs: nowMs,
    address: hex.padStart(40, "0"),
    key: KEY,
    tokenHash: tokenHashOf(name, visit),
    expiresAtMs: nowMs + 86_400_000,
    siweNonce: `nonce${visit}`,
    siweNonceUntilMs: nowMs + 600_000,
    maxOrderNotionalMicros: 0,
    maxNotionalMicros: 0,
    markets: [],
  };
  const evidence: Evidence = {
    signed: Buffer.from(`message of ${name}`),
    signature: new Uint8Array(0),
    publicKey: PUBLIC_KEY,
  };
  return { command, evidence };
}

function tokenHashOf(name: number, visit = "first"): string {
  return createHash("sha256").update(`token of ${name}, ${visit}`).digest("hex");
}

/** A limit order in BTCUSD at ten times leverage; price 0 makes it a market order. */
export function orderCommand(
  session: number,
  nonce: number,
  side: "long" | "short",
  priceTicks: number,
  marginDollars: number,
): PlaceOrder {
  return {
    kind: "PlaceOrder",
    stampMs: START_MS,
    session,
    key: KEY,
    nonce,
    market: 0,
    side: side === "long" ? LONG : SHORT,
    type: priceTicks === 0 ? MARKET_ORDER : LIMIT_ORDER,
    marginMicros: marginDollars * 1_000_000,
    leverage: 10,
    priceTicks,
    reduceOnly: false,
    postOnly: false,
  };
}

/** An amendment in BTCUSD that changes nothing but what is given. */
export function amendCommand(
  session: number,
  nonce: number,
  changes: Partial<AmendOrder>,
): AmendOrder {
  return {
    kind: "AmendOrder",
    stampMs: START_MS,
    session,
    key: KEY,
    nonce,
    market: 0,
    orderId: 0,
    clientOrderId: "",
    priceTicks: 0,
    sizeLots: 0,
    limitTicks: 0,
    expiresAtMs: -1,
    validUntilMs: 0,
    ...changes,
  };
}

export function acknowledged(outcome: CommandOutcome) {
  if (outcome.kind === "acknowledged") return outcome.acknowledgement;
  throw new Error(`not acknowledged: ${JSON.stringify(outcome)}`);
}
