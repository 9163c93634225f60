/**
 * The server of the fan-out: a venue behind the gateway's streams, and beside it, in the same
 * process, the bare loop that it is measured by: `ws`, one payload, a send to every client. Driven
 * over IPC, so that nothing else takes its time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AddressLimits,
  CostBudgets,
  DEFAULT_LIMITS,
  NonceIssuer,
  StreamServer,
} from "@perpgate/gateway";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { NO_EVIDENCE, Venue, venueConfigOf } from "@perpgate/venue";
import { WebSocketServer } from "ws";

/** What the bench asks for. */
export type Request =
  /** Market 0 has readers, market 1 has none. */
  | { readonly kind: "change"; readonly market: number }
  | { readonly kind: "broadcast"; readonly bytes: number }
  | { readonly kind: "cpu" }
  | { readonly kind: "stop" };

/** BigInts do not travel over IPC. */
export interface Committed {
  readonly atNs: string;
}

const KEY = "ab".repeat(32);
const DAY_MS = 86_400_000;

const folder = mkdtempSync(join(tmpdir(), "perpgate-fan-out-"));
const venue = await Venue.open({
  directory: folder,
  config: venueConfigOf(DEFAULT_MARKETS),
  listing: DEFAULT_MARKETS,
  cohort: "open",
  checkpoints: null,
  // The venue's own time is not what is measured here.
  ticks: false,
});
const session = await openSession();
const streams = new StreamServer({
  venue,
  log: { info: () => undefined, error: (fields) => console.error(fields) },
  // The readers do not answer pings.
  limits: { socketsPerAddress: 100_000, pingIntervalMs: 3_600_000 },
});
/** All readers share one address here. */
const UNLIMITED_COST = { ...DEFAULT_LIMITS, costMsPerSecond: 1e6, costBurstMs: 1e6 };
const server = createServer();
streams.attach(
  server,
  {
    version: "bench",
    clock: () => Date.now(),
    markets: () => venue.views.markets(),
    nonces: new NonceIssuer(new Uint8Array(32)),
    addressLimits: new AddressLimits(DEFAULT_LIMITS),
    budgets: new CostBudgets(UNLIMITED_COST, {
      onCharged: () => undefined,
      onHeld: () => undefined,
      onParsed: () => undefined,
    }),
    signedBytes: DEFAULT_LIMITS.signedBytes,
    readiness: [],
    venue: undefined,
    openApi: "{}",
  },
  (request) => request.socket.remoteAddress ?? "",
);
const bareServer = createServer();
const bare = new WebSocketServer({ server: bareServer, perMessageDeflate: false });

let nonce = 0;
/** By market, the order that made the level; 0 while there is none. */
const resting = [0, 0];
const INDEX_TICKS = [650_000, 320_000];

async function openSession(): Promise<number> {
  const stampMs = venue.nowMs();
  const command = {
    kind: "OpenSession",
    stampMs,
    address: "1".padStart(40, "0"),
    key: KEY,
    tokenHash: "1".padStart(64, "0"),
    expiresAtMs: stampMs + DAY_MS,
    siweNonce: "fan-out-bench",
    siweNonceUntilMs: stampMs + DAY_MS,
    maxOrderNotionalMicros: 0,
    maxNotionalMicros: 0,
    markets: [],
  } as const;
  return venue.submitted(command, NO_EVIDENCE, ({ seq }) => seq);
}

/** A level comes, or the one that came last goes: one command, one frame. */
async function change(market: number): Promise<Committed> {
  const stampMs = venue.nowMs();
  const orderId = resting[market] ?? 0;
  if (orderId !== 0) {
    const command = { kind: "CancelOrder", stampMs, session, orderId } as const;
    resting[market] = 0;
    return { atNs: String(await venue.submitted(command, NO_EVIDENCE, now)) };
  }
  // Kept fresh, or the order would be refused.
  const indexTicks = INDEX_TICKS[market] ?? 0;
  const index = { kind: "UpdateIndex", stampMs, market, indexTicks } as const;
  venue.submit(index, NO_EVIDENCE, () => undefined);
  nonce++;
  const order = {
    kind: "PlaceOrder",
    stampMs,
    session,
    key: KEY,
    nonce,
    market,
    side: 1,
    type: 1,
    marginMicros: 11_234_567,
    leverage: 10,
    priceTicks: indexTicks - 1_000,
    reduceOnly: false,
    postOnly: false,
  } as const;
  return venue.submitted(order, NO_EVIDENCE, ({ seq: position }) => {
    resting[market] = position;
    return { atNs: String(now()) };
  });
}

function now(): bigint {
  return process.hrtime.bigint();
}

function broadcast(bytes: number): Committed {
  const payload = Buffer.alloc(bytes, 1);
  const atNs = String(now());
  for (const client of bare.clients) client.send(payload);
  return { atNs };
}

async function listen(on: Server): Promise<number> {
  await new Promise<void>((resolve) => on.listen(0, "127.0.0.1", () => resolve()));
  const address = on.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function answer(request: Request): Promise<unknown> {
  switch (request.kind) {
    case "change":
      return change(request.market);
    case "broadcast":
      return broadcast(request.bytes);
    case "cpu":
      return process.cpuUsage();
    case "stop":
      await venue.close();
      rmSync(folder, { recursive: true, force: true });
      process.exit(0);
  }
}

process.on("message", (request: Request) => {
  void answer(request).then((value) => process.send?.(value));
});
process.send?.({ streams: await listen(server), bare: await listen(bareServer) });
