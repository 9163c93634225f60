/**
 * The schema of a configuration file and of every other source. Every key is optional. Its `title` is what
 * a setting means, for `perpgate config --catalog`.
 */

import { BridgeSettings } from "@perpgate/bridge/settings";
import { MOST_GUSTS_PER_HOUR } from "@perpgate/oracle";
import { MarketDefinition } from "@perpgate/protocol";
import { type Static, type TProperties, Type } from "typebox";

const Whole = (minimum: number, maximum: number, title: string) =>
  Type.Integer({ title, minimum, maximum });
const Decimal = (minimum: number, maximum: number, title: string) =>
  Type.Number({ title, minimum, maximum });
const Flag = (title: string) => Type.Boolean({ title });
const Milliseconds = (title: string) => Whole(1, 3_600_000, title);
const Rate = (title: string) => Type.Number({ title, exclusiveMinimum: 0, maximum: 1e9 });
const Count = (title: string) => Whole(1, 1_000_000_000, title);
const BURST = "what may come together before its rate holds";
const Burst = Count(BURST);
const Fraction = (title: string) => Type.Number({ title, exclusiveMinimum: 0, maximum: 1 });
const Dollars = (title: string) => Type.Number({ title, exclusiveMinimum: 0, maximum: 1e9 });
const Text = (title: string) => Type.String({ title });
const Name = (title: string) => Type.String({ title, minLength: 1 });
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
  trustProxy: Type.Union(
    [
      Type.Literal(false),
      Type.Integer({ minimum: 1, maximum: 10 }),
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    ],
    {
      title:
        "`false`, the number of proxies in front, or a list of their IP addresses and networks",
      description:
        "false, the number of proxies from 1 to 10, or a list of their addresses and networks",
    },
  ),
  origins: Type.Union([Type.Literal("*"), Type.Array(Origin)], {
    title: '`"*"`, or the list of origins that may call and open streams from a browser',
    description: '"*" or a list of origins',
  }),
  page: Type.Union([Type.Literal(false), Type.String({ minLength: 1 })], {
    title: "folder of the trading page served at `/`, or `false`",
    description: "false or a folder",
  }),
  data: Name("folder of daily files of public data, served under `/data`"),
  udf: Flag("`true` serves TradingView's data feed under `/udf`"),
  gateways: Type.Array(Origin, {
    title: "addresses of the venue's gateways; the trading page uses the nearest of them",
    maxItems: 16,
  }),
});

const Http = section({
  bodyBytes: Whole(1_024, 16_777_216, "largest request body"),
  headersTimeoutMs: Milliseconds(
    "time for a request's headers to arrive; at most `http.requestTimeoutMs`",
  ),
  requestTimeoutMs: Milliseconds("time for a whole request to arrive"),
  idleTimeoutMs: Milliseconds("time a connection may be silent"),
  keepAliveTimeoutMs: Milliseconds("time an answered connection is kept"),
  timeoutCheckIntervalMs: Milliseconds("how often overdue requests are looked for"),
  maxConnections: Whole(
    1,
    1_000_000,
    "open connections; a tenth is kept for addresses with a live session",
  ),
  connectionsPerAddress: Whole(
    1,
    1_000_000,
    "connections that one client address may hold; a trusted proxy may hold more",
  ),
  unreadTimeoutMs: Whole(
    100,
    600_000,
    "time after which a connection is closed whose peer takes next to nothing of what it is sent",
  ),
  unreadBytesPerAddress: Whole(
    65_536,
    Number.MAX_SAFE_INTEGER,
    "bytes that one address may leave unread, in this process and in the kernel; beyond it connections are closed",
  ),
  pipelinedRequests: Whole(
    1,
    10_000,
    "requests that may wait on one connection; a connection with more is closed",
  ),
  drainGraceMs: Milliseconds("time that requests in flight have after SIGTERM"),
});

const Metrics = section({
  host: Name(
    "address of the metrics' own listener, which has no access control; of `perpgate attest` too",
  ),
  port: Type.Union([Type.Literal(false), Type.Integer({ minimum: 0, maximum: 65_535 })], {
    title:
      "its port; 0 picks a free one, `false` opens none. One that is given and taken stops the start",
    description: "false or a port from 0 to 65535",
  }),
});

/**
 * At least the longest order; at most what the log takes in one batch, 256 KiB, without the commands of
 * a batch of orders.
 */
const SignedBytes = (title: string) => Whole(1_024, 204_800, title);
const Limits = section({
  ordersPerSecond: Rate("counted by account"),
  ordersBurst: Burst,
  cancelsPerSecond: Rate(
    "counted by account; also cancel-all, cancel-after, rotate and a socket's `session`",
  ),
  cancelsBurst: Burst,
  accountReadsPerSecond: Rate("counted by account; every `GET` with a token"),
  accountReadsBurst: Burst,
  depositsPerMinute: Count("counted by account"),
  unseenDeposits: Count(
    "counted by account; open deposits that no attestor has seen on their chain",
  ),
  addressDepositsPerMinute: Count("counted by client address; registrations of all its accounts"),
  newAccountsPerMinute: Count(
    "counted by client address; first sign-ins that the `dev` attestor grants money",
  ),
  newAccountsBurst: Burst,
  attestorRequestsPerSecond: Rate("counted by client address; requests of attestors elsewhere"),
  attestorRequestsBurst: Burst,
  signInsPerSecond: Count("counted by client address"),
  failedSignInsPerMinute: Count("counted by client address; past it no attempt is made"),
  failedSignaturesPerMinute: Count(
    "counted by session; signatures that do not verify, past which none of it is checked",
  ),
  failedSignaturesBurst: Burst,
  readsPerSecond: Rate("counted by client address; public reads under `/v1`, `/docs`"),
  readsBurst: Burst,
  costMsPerSecond: Rate("counted by client address; milliseconds of processor time"),
  costBurstMs: Rate(BURST),
  reserveMsPerSecond: Rate(
    "counted by client address; the same for cancels and reductions of live sessions alone, and once more for orders that are read to see whether they reduce; half of each for one account",
  ),
  reserveBurstMs: Rate(BURST),
  accountCostMsPerSecond: Rate("counted by account, from whatever addresses it comes"),
  accountCostBurstMs: Rate(BURST),
  signedBytes: SignedBytes(
    "bytes of an order or a rotation, which the log keeps whole; 413. Lowering it makes a retry of a longer order 413 too: its outcome is found by its nonce. 1024 to 204800",
  ),
  batchBytes: SignedBytes("the same of a batch"),
  pendingOrders: Count("counted by process; above it new orders are 503 `overloaded`"),
});

const Bytes = (title: string) => Whole(1_024, 1_073_741_824, title);
const Sockets = section({
  socketsPerAddress: Count("open sockets of one client address"),
  streamsPerSocket: Count("streams that one socket holds"),
  messageBytes: Whole(1_024, 16_777_216, "largest message"),
  messageFragments: Count("fragments that one message comes in"),
  messagesPerSecond: Rate("messages of one socket"),
  messagesBurst: Burst,
  heldMessages: Count(
    "messages that wait while the address is over its cost budget; a socket with more is closed",
  ),
  roomBytes: Bytes("bytes waiting, past which books, tickers, candles are left out"),
  maxBufferedBytes: Bytes("bytes waiting, past which the socket is closed"),
  pingIntervalMs: Milliseconds("time between two pings"),
  closeTimeoutMs: Milliseconds("time a closing socket has to say goodbye"),
});

const Auth = section({
  nonceKey: Type.String({
    title: "hex, 32 to 64 bytes; gateways that share it recognise each other's nonces",
    pattern: "^[0-9a-fA-F]{64,128}$",
    description: "64 to 128 hex digits",
  }),
  domains: Type.Array(
    Type.String({
      pattern: "^[^\\s/?#@]+$",
      description: "a domain, perhaps with a port, such as app.example",
    }),
    { title: 'domains, with their ports, whose pages may sign in: `["app.example"]`', minItems: 1 },
  ),
  chainIds: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    title: "chain ids a message may name",
    minItems: 1,
  }),
  nonce: Type.Enum(["any", "issued"], {
    title: '`"any"`, or `"issued"`: only nonces from `GET /v1/auth/nonce`',
  }),
  requireKeyBinding: Flag("whether a message must carry the resource that binds its session key"),
  maxBoundSessionMs: Whole(
    60_000,
    365 * 86_400_000,
    "how long a session may last whose message binds its key and states its expiration; others 24 hours",
  ),
  rpc: Type.Record(Type.String({ pattern: "^[1-9][0-9]{0,14}$", description: "a chain id" }), Url, {
    title: 'chain id → RPC address, for contract wallets: `{"1": "https://rpc.example"}`',
    additionalProperties: false,
  }),
});

const Cohort = section({
  stage: Type.Enum(["closed", "allowlist", "open"], {
    title: "who may open positions: `open`, `allowlist` or `closed`",
  }),
  allow: Type.Array(Address, { title: "addresses on the list of a venue that begins" }),
});

const Risk = section({
  band: Fraction("half-width of the price band around the mark, a fraction"),
  impactNotional: Dollars("dollars whose price on the book counts as the market's"),
  fundSeed: Dollars("dollars the fund begins with; never changes for a data folder"),
  backstopCap: Dollars(
    "dollars the backstop may hold, besides what the fund's budget and half of its worth allow",
  ),
  fundLossPerHour: Fraction(
    "fraction of the fund that takeovers, and what becomes of them, may cost it in an hour; it holds at most three times what is left",
  ),
  minNotional: Dollars("dollars that an order which opens must be worth"),
  maxOpenInterestPositions: Whole(
    1,
    1_000,
    "open interest of a market, in multiples of its largest position",
  ),
  maxIndexJump: Fraction(
    "an index further from those of the last ten seconds is held back, a fraction",
  ),
  maxOpenOrders: Whole(1, 1_000_000, "open orders per account and market"),
});

const Snapshots = section({
  everyCommands: Whole(100, 1_000_000_000, "commands after which a snapshot of the state is taken"),
  everyMs: Whole(1_000, 86_400_000, "time after which one is taken, if there was a command"),
  keep: Whole(1, 1_000, "snapshots that stay on disk"),
});

/** What the store keeps of orders, fills, trades and the ledger. */
const History = section({
  hotDays: Decimal(
    1,
    36_500,
    "days whose orders, fills, trades and entries of the ledger are kept",
  ),
  maxMiB: Type.Integer({
    title: "size of the history in MiB above which it keeps fewer days",
    minimum: 64,
  }),
});

/** Receipts and the transparency log. */
const Receipts = section({
  issue: Flag("whether acknowledgements carry a receipt; the transparency log stays"),
  logKey: Name("file of the log key; by default log.key in the data folder"),
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
    { title: "who cosigns checkpoints: address and verifier key of each", maxItems: 16 },
  ),
  checkpointMs: Whole(100, 60_000, "time between two checkpoints"),
  policy: Type.Enum(["lenient", "strict"], {
    title: "whether a checkpoint is published without the cosignatures that are required",
  }),
  require: Whole(1, 16, "witnesses whose cosignature a strict policy waits for; all by default"),
});

const FeedMarket = Type.Object(
  { url: Url, price: JsonPointer, time: Type.Optional(JsonPointer) },
  { additionalProperties: false },
);

const Index = section({
  source: Type.Enum(["simulated", "http"], { title: '`"simulated"` or `"http"`' }),
  seed: Whole(0, 0xffffffff, "seed of the simulated index"),
  gustsPerHour: Decimal(0, MOST_GUSTS_PER_HOUR, "gusts of each simulated market, 0 to 11"),
  intervalMs: Whole(10, 5_000, "how often the venue gets new prices, 10 to 5000"),
  feeds: Type.Array(
    Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 64 }),
        markets: Type.Record(Type.String(), FeedMarket),
      },
      { additionalProperties: false },
    ),
    { title: "web feeds", minItems: 1 },
  ),
  pollMs: Milliseconds("how often feeds are asked"),
  timeoutMs: Milliseconds("time a feed has to answer; its address is not asked again meanwhile"),
  maxAgeMs: Milliseconds("age from which a feed's price no longer counts"),
  quorum: Whole(1, 100, "feeds that must agree on a price"),
  maxDeviation: Fraction("how far a feed may be from the median of all, a fraction"),
});

const Bots = section({
  seed: Whole(0, 0xffffffff, "their wallets and decisions follow from it"),
  levels: Whole(1, 2_000, "price levels that makers aim at on each side of each market, 1 to 2000"),
  refreshMs: Whole(50, 60_000, "how often a market's quotes follow its index, 50 to 60000"),
  actionsPerSecond: Whole(1, 1_000, "orders and cancels of all makers together, 1 to 1000"),
  tradesPerMinute: Decimal(
    0.1,
    6_000,
    "orders of noise traders in the first market; the others get 0.6 of it and fewer",
  ),
  gamblers: Whole(0, 16, "accounts that trade with the highest leverage, 0 to 16"),
});

const ServerAddress = Type.String({
  pattern: "^(?:nats|tls)://[^\\s/]+$",
  description: "an address such as nats://10.0.0.1:4222, or tls:// likewise",
});

/** The replicated log; without it the log is in the data folder alone. */
const Log = Type.Object(
  {
    servers: Type.Array(ServerAddress, {
      title: "NATS servers of a replicated log; without them the log is in the data folder alone",
      minItems: 1,
      maxItems: 16,
    }),
    stream: Type.Optional(
      Type.String({
        title: "name of the stream",
        pattern: "^[A-Za-z0-9_-]{1,64}$",
        description: "1 to 64 letters, digits, _ and -",
      }),
    ),
    user: Type.Optional(Text("user at the servers")),
    password: Type.Optional(Text("password at the servers")),
    token: Type.Optional(Text("token at the servers")),
    credentials: Type.Optional(Name("a .creds file")),
    tls: Type.Optional(
      section({
        ca: Name("file of the authority"),
        cert: Name("file of the own certificate"),
        key: Name("file of the certificate's key"),
      }),
    ),
    monitors: Type.Optional(
      Type.Array(Url, {
        title: "the servers' monitoring pages, where the sync interval can be seen",
      }),
    ),
    cores: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[a-z0-9-]{1,64}$",
          description: "1 to 64 small letters, digits and -",
        }),
        {
          title: "names of the cores, in the order in which they take over",
          minItems: 1,
          maxItems: 16,
          uniqueItems: true,
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const LinkPlace = {
  pattern: "^(?:\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):[0-9]{1,5}$",
  description: "HOST:PORT, an address of IPv6 in brackets",
};

/** Between a core and edges on other machines. */
const Link = section({
  listen: Type.String({
    ...LinkPlace,
    title: "where a core listens for edges on other machines; nowhere by default",
  }),
  cores: Type.Array(Type.String(LinkPlace), {
    title: "where the cores of `perpgate edge`, or the other ones of `log.cores`, listen",
    minItems: 1,
    maxItems: 16,
  }),
  tls: section({
    ca: Name("file with the certificate of the venue's authority for links"),
    cert: Name("file of the own certificate, made by `perpgate keygen`"),
    key: Name("file of the certificate's key"),
  }),
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
  {
    title: "the catalog, in listing order; listed markets stay, new ones follow",
    description: "a list of one market or more, or an object with changes by symbol",
  },
);

export const SettingsSchema = Type.Partial(
  Type.Object({
    host: Name("address to listen on"),
    port: Whole(0, 65_535, "port to listen on; 0 picks a free one"),
    data: Name("the data folder, created if missing"),
    edges: Whole(1, 64, "processes that serve clients, next to the one that keeps the venue"),
    name: Type.String({
      title: "the gateway's name in a replicated log; the machine's by default",
      pattern: "^[a-z0-9-]{1,64}$",
      description: "1 to 64 small letters, digits and -",
    }),
    region: Type.String({
      title: "where this gateway is, in `GET /v1/status` and on the page",
      pattern: "^[A-Za-z0-9 ._-]{1,64}$",
      description: "1 to 64 letters, digits, spaces, points, _ and -",
    }),
    log: Log,
    link: Link,
    /** Of each new segment of the log; two are allocated ahead. */
    segmentMiB: Whole(2, 1024, "size of each new file of the log, allocated ahead"),
    bots: Type.Union([Type.Boolean(), Bots], {
      title: "whether bots trade; settings turn them on",
      description: "true, false or an object with their settings",
    }),
    logLevel: Type.Enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
      title: "lines that are logged",
    }),
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
    archive: section({
      postgres: Name("address of a PostgreSQL database that is fed with the tables of the history"),
    }),
    receipts: Receipts,
    index: Index,
    bridge: BridgeSettings,
  }),
  { title: "Settings", additionalProperties: false },
);

export type PartialSettings = Static<typeof SettingsSchema>;
