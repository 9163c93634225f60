/** The schema of a configuration file and of every other source. Every key is optional. */

import { BridgeSettings } from "@perpgate/bridge/settings";
import { MOST_GUSTS_PER_HOUR } from "@perpgate/oracle";
import { MarketDefinition } from "@perpgate/protocol";
import { type Static, type TProperties, Type } from "typebox";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });
const Rate = Type.Number({ exclusiveMinimum: 0, maximum: 1e9 });
const Burst = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
const Fraction = Type.Number({ exclusiveMinimum: 0, maximum: 1 });
const Dollars = Type.Number({ exclusiveMinimum: 0, maximum: 1e9 });
/** Every pattern and every union has a description: "must be …" in the line that refuses a value. */
const Url = Type.String({
  pattern: "^https?://[^\\s/]+",
  description: "an address that begins with http:// or https://",
});
const Origin = Type.String({
  pattern: "^https?://[^\\s/]+$",
  description: "an origin: http:// or https://, a host, perhaps a port, and no path",
});
const Address = Type.String({
  pattern: "^0x[0-9a-fA-F]{40}$",
  description: "an Ethereum address: 0x and 40 hex digits",
});
const JsonPointer = Type.String({
  pattern: "^(?:/(?:[^~/]|~[01])*)*$",
  description: "a JSON pointer (RFC 6901), such as /data/price",
});

const section = <P extends TProperties>(properties: P) =>
  Type.Partial(Type.Object(properties), { additionalProperties: false });

const Server = section({
  /** The number of proxies, or their addresses and networks. */
  trustProxy: Type.Union(
    [
      Type.Literal(false),
      Type.Integer({ minimum: 1, maximum: 10 }),
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    ],
    {
      description:
        "false, the number of proxies from 1 to 10, or a list of their addresses and networks",
    },
  ),
  /** Pages that may call from a browser. */
  origins: Type.Union([Type.Literal("*"), Type.Array(Origin)], {
    description: '"*" or a list of origins',
  }),
  /** The folder of the trading page, or none. */
  page: Type.Union([Type.Literal(false), Type.String({ minLength: 1 })], {
    description: "false or a folder",
  }),
  /** The folder of daily files that `perpgate publish` makes, served under `/data`. */
  data: Type.String({ minLength: 1 }),
  /** TradingView's data feed under `/udf`. */
  udf: Type.Boolean(),
  /** The venue's gateways as browsers reach them; the page uses the nearest. */
  gateways: Type.Array(Origin, { maxItems: 16 }),
});

const Http = section({
  bodyBytes: Type.Integer({ minimum: 1_024, maximum: 16_777_216 }),
  headersTimeoutMs: Milliseconds,
  requestTimeoutMs: Milliseconds,
  idleTimeoutMs: Milliseconds,
  keepAliveTimeoutMs: Milliseconds,
  timeoutCheckIntervalMs: Milliseconds,
  maxConnections: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  connectionsPerAddress: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  unreadTimeoutMs: Type.Integer({ minimum: 100, maximum: 600_000 }),
  unreadBytesPerAddress: Type.Integer({ minimum: 65_536, maximum: Number.MAX_SAFE_INTEGER }),
  pipelinedRequests: Type.Integer({ minimum: 1, maximum: 10_000 }),
  drainGraceMs: Milliseconds,
});

const Metrics = section({
  host: Type.String({ minLength: 1 }),
  /** False: no separate listener. */
  port: Type.Union([Type.Literal(false), Type.Integer({ minimum: 0, maximum: 65_535 })], {
    description: "false or a port from 0 to 65535",
  }),
});

/**
 * At least the longest order; at most what the log takes in one batch, 256 KiB, without the commands of
 * a batch of orders.
 */
const SignedBytes = Type.Integer({ minimum: 1_024, maximum: 204_800 });
const Limits = section({
  ordersPerSecond: Rate,
  ordersBurst: Burst,
  cancelsPerSecond: Rate,
  cancelsBurst: Burst,
  accountReadsPerSecond: Rate,
  accountReadsBurst: Burst,
  depositsPerMinute: Burst,
  unseenDeposits: Burst,
  addressDepositsPerMinute: Burst,
  newAccountsPerMinute: Burst,
  newAccountsBurst: Burst,
  attestorRequestsPerSecond: Rate,
  attestorRequestsBurst: Burst,
  signInsPerSecond: Burst,
  failedSignInsPerMinute: Burst,
  failedSignaturesPerMinute: Burst,
  failedSignaturesBurst: Burst,
  readsPerSecond: Rate,
  readsBurst: Burst,
  costMsPerSecond: Rate,
  costBurstMs: Rate,
  reserveMsPerSecond: Rate,
  reserveBurstMs: Rate,
  accountCostMsPerSecond: Rate,
  accountCostBurstMs: Rate,
  signedBytes: SignedBytes,
  batchBytes: SignedBytes,
  pendingOrders: Burst,
});

const Bytes = Type.Integer({ minimum: 1_024, maximum: 1_073_741_824 });
const Sockets = section({
  socketsPerAddress: Burst,
  streamsPerSocket: Burst,
  messageBytes: Type.Integer({ minimum: 1_024, maximum: 16_777_216 }),
  messageFragments: Burst,
  messagesPerSecond: Rate,
  messagesBurst: Burst,
  heldMessages: Burst,
  /** Above it, frames that only show the latest state are dropped. */
  roomBytes: Bytes,
  /** Above it, the socket is closed. */
  maxBufferedBytes: Bytes,
  pingIntervalMs: Milliseconds,
  closeTimeoutMs: Milliseconds,
});

const Auth = section({
  /** Hex; the same for gateways that must accept each other's nonces. */
  nonceKey: Type.String({
    pattern: "^[0-9a-fA-F]{64,128}$",
    description: "64 to 128 hex digits",
  }),
  domains: Type.Array(
    Type.String({
      pattern: "^[^\\s/?#@]+$",
      description: "a domain, perhaps with a port, such as app.example",
    }),
    { minItems: 1 },
  ),
  chainIds: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    minItems: 1,
  }),
  nonce: Type.Enum(["any", "issued"]),
  requireKeyBinding: Type.Boolean(),
  maxBoundSessionMs: Type.Integer({ minimum: 60_000, maximum: 365 * 86_400_000 }),
  /** Chain id → RPC address, for contract wallets. */
  rpc: Type.Record(Type.String({ pattern: "^[1-9][0-9]{0,14}$", description: "a chain id" }), Url, {
    additionalProperties: false,
  }),
});

const Cohort = section({
  stage: Type.Enum(["closed", "allowlist", "open"]),
  allow: Type.Array(Address),
});

const Risk = section({
  band: Fraction,
  impactNotional: Dollars,
  fundSeed: Dollars,
  backstopCap: Dollars,
  fundLossPerHour: Fraction,
  minNotional: Dollars,
  maxOpenInterestPositions: Type.Integer({ minimum: 1, maximum: 1_000 }),
  maxIndexJump: Fraction,
  maxOpenOrders: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
});

const Snapshots = section({
  everyCommands: Type.Integer({ minimum: 100, maximum: 1_000_000_000 }),
  everyMs: Type.Integer({ minimum: 1_000, maximum: 86_400_000 }),
  /** The number of snapshots on disk. */
  keep: Type.Integer({ minimum: 1, maximum: 1_000 }),
});

/** What the store keeps of orders, fills, trades and the ledger. */
const History = section({
  hotDays: Type.Number({ minimum: 1, maximum: 36_500 }),
  maxMiB: Type.Integer({ minimum: 64 }),
});

/** Receipts and the transparency log. */
const Receipts = section({
  /** False: acknowledgements carry none; the log stays. */
  issue: Type.Boolean(),
  /** File of the log key, as `perpgate keygen log` makes it; default: `log.key` in the data folder. */
  logKey: Type.String({ minLength: 1 }),
  witnesses: Type.Array(
    Type.Object(
      {
        url: Url,
        key: Type.String({
          pattern: "^[^\\s+]+\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]+$",
          description: "a verifier key: a name, 8 hex digits and base64, joined by +",
        }),
      },
      { additionalProperties: false },
    ),
    { maxItems: 16 },
  ),
  /** Between two checkpoints. */
  checkpointMs: Type.Integer({ minimum: 100, maximum: 60_000 }),
  /** Strict: a checkpoint is published only with the cosignatures of `require` witnesses. */
  policy: Type.Enum(["lenient", "strict"]),
  /** Default: all witnesses. */
  require: Type.Integer({ minimum: 1, maximum: 16 }),
});

const FeedMarket = Type.Object(
  { url: Url, price: JsonPointer, time: Type.Optional(JsonPointer) },
  { additionalProperties: false },
);

const Index = section({
  source: Type.Enum(["simulated", "http"]),
  seed: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
  gustsPerHour: Type.Number({ minimum: 0, maximum: MOST_GUSTS_PER_HOUR }),
  intervalMs: Type.Integer({ minimum: 10, maximum: 5_000 }),
  feeds: Type.Array(
    Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 64 }),
        markets: Type.Record(Type.String(), FeedMarket),
      },
      { additionalProperties: false },
    ),
    { minItems: 1 },
  ),
  pollMs: Milliseconds,
  timeoutMs: Milliseconds,
  maxAgeMs: Milliseconds,
  quorum: Type.Integer({ minimum: 1, maximum: 100 }),
  maxDeviation: Fraction,
});

const Bots = section({
  /** Their wallets and decisions are derived from it. */
  seed: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
  /** Price levels on each side of each market. */
  levels: Type.Integer({ minimum: 1, maximum: 2_000 }),
  refreshMs: Type.Integer({ minimum: 50, maximum: 60_000 }),
  /** Orders and cancels of all makers together. */
  actionsPerSecond: Type.Integer({ minimum: 1, maximum: 1_000 }),
  /** Of the noise traders, in the first market. */
  tradesPerMinute: Type.Number({ minimum: 0.1, maximum: 6_000 }),
  gamblers: Type.Integer({ minimum: 0, maximum: 16 }),
});

const ServerAddress = Type.String({
  pattern: "^(?:nats|tls)://[^\\s/]+$",
  description: "an address such as nats://10.0.0.1:4222, or tls:// likewise",
});
const File = Type.String({ minLength: 1 });

/** The replicated log; without it the log is in the data folder alone. */
const Log = Type.Object(
  {
    servers: Type.Array(ServerAddress, { minItems: 1, maxItems: 16 }),
    stream: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{1,64}$",
        description: "1 to 64 letters, digits, _ and -",
      }),
    ),
    user: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    token: Type.Optional(Type.String()),
    /** A .creds file. */
    credentials: Type.Optional(File),
    tls: Type.Optional(section({ ca: File, cert: File, key: File })),
    /** The servers' monitoring pages, where the sync interval can be seen. */
    monitors: Type.Optional(Type.Array(Url)),
    /** In the order in which they take over. */
    cores: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[a-z0-9-]{1,64}$",
          description: "1 to 64 small letters, digits and -",
        }),
        { minItems: 1, maxItems: 16, uniqueItems: true },
      ),
    ),
  },
  { additionalProperties: false },
);

const LinkPlace = Type.String({
  pattern: "^(?:\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):[0-9]{1,5}$",
  description: "HOST:PORT, an address of IPv6 in brackets",
});

/** Between a core and edges on other machines. */
const Link = section({
  /** Of a core. */
  listen: LinkPlace,
  /** Of edges without a core of their own. */
  cores: Type.Array(LinkPlace, { minItems: 1, maxItems: 16 }),
  tls: section({ ca: File, cert: File, key: File }),
});

/** Of one market by its symbol: changes of a default market, or all of a new one. */
const { symbol: _, index: MarketIndex, ...terms } = MarketDefinition.properties;
const MarketChange = Type.Partial(
  Type.Object({ ...terms, index: Type.Partial(MarketIndex, { additionalProperties: false }) }),
  { additionalProperties: false },
);

/** A list is the whole catalog. An object changes the default one; false leaves a market out. */
const Markets = Type.Union(
  [
    Type.Array(MarketDefinition, { minItems: 1 }),
    Type.Record(
      Type.String(),
      Type.Union([Type.Literal(false), MarketChange], {
        description: "false or an object with what differs from the default",
      }),
    ),
  ],
  { description: "a list of one market or more, or an object with changes by symbol" },
);

export const SettingsSchema = Type.Partial(
  Type.Object({
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    data: Type.String({ minLength: 1 }),
    edges: Type.Integer({ minimum: 1, maximum: 64 }),
    /** The gateway's name in a replicated log. */
    name: Type.String({
      pattern: "^[a-z0-9-]{1,64}$",
      description: "1 to 64 small letters, digits and -",
    }),
    /** Of this gateway, for clients to read. */
    region: Type.String({
      pattern: "^[A-Za-z0-9 ._-]{1,64}$",
      description: "1 to 64 letters, digits, spaces, points, _ and -",
    }),
    log: Log,
    link: Link,
    /** Of each new segment of the log; two are allocated ahead. */
    segmentMiB: Type.Integer({ minimum: 2, maximum: 1024 }),
    bots: Type.Union([Type.Boolean(), Bots], {
      description: "true, false or an object with their settings",
    }),
    logLevel: Type.Enum([...LOG_LEVELS]),
    markets: Markets,
    server: Server,
    http: Http,
    metrics: Metrics,
    limits: Limits,
    sockets: Sockets,
    auth: Auth,
    cohort: Cohort,
    risk: Risk,
    snapshots: Snapshots,
    history: History,
    /** Fed by a process of the venue, or by `perpgate archive`. */
    archive: section({ postgres: Type.String({ minLength: 1 }) }),
    receipts: Receipts,
    index: Index,
    bridge: BridgeSettings,
  }),
  { title: "Settings", additionalProperties: false },
);

export type PartialSettings = Static<typeof SettingsSchema>;
