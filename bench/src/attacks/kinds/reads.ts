/** Reads whose answers are larger or dearer than their requests. */
import { type AttackEntry, attacksOf, type Target } from "../attack.js";
import { flood, inTurn, paced } from "../wire/patterns.js";
import { pipeline, request } from "../wire/requests.js";

const FEW = { connections: 4 };
/** Connections that never read: what the server answers fills its own buffers. */
const UNREAD = { connections: 20, isUnread: true };
/** Reads a second of one address without a token. */
const READS_PER_SECOND = 100;
/** Reads a second of one account. */
const ACCOUNT_READS_PER_SECOND = 50;

interface PublicRead {
  readonly name: string;
  readonly shows: string;
  readonly path: string;
  readonly isUnread?: boolean;
  readonly isPaced?: boolean;
}

const PUBLIC: readonly PublicRead[] = [
  {
    name: "metrics-unread",
    shows: "Every pipelined request for metrics is answered, 1.9 ms each, although nobody reads.",
    path: "/metrics",
    isUnread: true,
  },
  {
    name: "metrics-read",
    shows: "Metrics have no limit.",
    path: "/metrics",
  },
  {
    name: "openapi-unread",
    shows: "The schema, hundreds of kilobytes, is written for a client that does not read.",
    path: "/v1/openapi.json",
    isUnread: true,
  },
  {
    name: "openapi-read",
    shows: "The schema is sent as often as limits allow, with refusals in between.",
    path: "/v1/openapi.json",
  },
  { name: "docs-read", shows: "The documentation page is served from memory.", path: "/docs" },
  {
    name: "health-unread",
    shows: "Health checks have no limit and their answers may pile up.",
    path: "/healthz",
    isUnread: true,
  },
  {
    name: "readiness-read",
    shows: "Readiness has no limit and asks the venue each time.",
    path: "/readyz",
  },
  {
    name: "book-full-read",
    shows: "A whole book as text, with pipelined refusals behind.",
    path: "/v1/markets/BTCUSD/book?depth=5000",
  },
  {
    name: "book-full-unread",
    shows: "Whole books pile up for a client that does not read.",
    path: "/v1/markets/BTCUSD/book?depth=5000",
    isUnread: true,
  },
  {
    name: "book-full-at-the-limit",
    shows: "A whole book 100 times a second, which limits allow.",
    path: "/v1/markets/BTCUSD/book?depth=5000",
    isPaced: true,
  },
  {
    name: "candles-at-the-limit",
    shows: "A thousand candles 100 times a second are read from the history.",
    path: "/v1/markets/BTCUSD/candles?resolution=1m&limit=1000",
    isPaced: true,
  },
  {
    name: "trades-at-the-limit",
    shows: "A thousand trades 100 times a second are read from the history and encoded.",
    path: "/v1/markets/BTCUSD/trades?limit=1000",
    isPaced: true,
  },
  {
    name: "blocks-at-the-limit",
    shows: "Blocks are looked up 100 times a second.",
    path: "/v1/blocks/2",
    isPaced: true,
  },
  {
    name: "long-queries",
    shows: "Queries of 8 KB with hundreds of parameters are parsed before they are refused.",
    path: `/v1/markets/BTCUSD/book?${"a=%41&".repeat(1_300)}depth=5`,
  },
];

const publicReads: readonly AttackEntry[] = PUBLIC.map(
  ({ name, shows, path, isUnread = false, isPaced = false }) => ({
    name,
    shows,
    prepare: () => {
      const read = request({ path });
      if (isPaced) return paced(read, READS_PER_SECOND, FEW);
      return flood(pipeline(read), isUnread ? UNREAD : FEW);
    },
  }),
);

const PRIVATE: readonly (readonly [name: string, shows: string, path: string])[] = [
  ["fills-at-the-limit", "A thousand fills for each of eight accounts", "/v1/fills?limit=1000"],
  [
    "orders-all-at-the-limit",
    "A thousand past orders for each of eight accounts",
    "/v1/orders?status=all&limit=1000",
  ],
  ["deposits-list-at-the-limit", "A thousand deposits", "/v1/bridge/deposits"],
  ["account-at-the-limit", "Account and open orders", "/v1/account"],
  ["order-by-nonce-at-the-limit", "Past orders by nonce", "/v1/orders?status=all&nonce=999999"],
];

const privateReads: readonly AttackEntry[] = PRIVATE.map(([name, what, path]) => ({
  name,
  shows: `${what} are read as often as limits allow.`,
  prepare: (target: Target) => {
    const reads = target.veterans.map(({ token }) => request({ path, token }));
    return paced(inTurn(reads), reads.length * ACCOUNT_READS_PER_SECOND, { connections: 16 });
  },
}));

export const READ_ATTACKS = attacksOf("reads", [
  ...publicReads,
  ...privateReads,
  {
    name: "fills-unread",
    shows: "Lists of a thousand fills pile up for a client that does not read.",
    prepare: ({ veterans }) => {
      const path = "/v1/fills?limit=1000";
      return flood(pipeline(...veterans.map(({ token }) => request({ path, token }))), UNREAD);
    },
  },
  {
    name: "preconfirms-at-the-limit",
    shows: "Merkle paths are computed for every request.",
    prepare: async (target) => {
      const reads: Buffer[] = [];
      for (const { token } of target.veterans) {
        const { text } = await target.get("/v1/orders?status=all&limit=50", token);
        const ids = [...text.matchAll(/"orderId":"(\d+)"/g)].map(([, id]) => id);
        // An account without orders asks for one that is not its own.
        for (const id of ids.length > 0 ? ids : ["1"]) {
          reads.push(request({ path: `/v1/preconfirms/${id}`, token }));
        }
      }
      const rate = target.veterans.length * ACCOUNT_READS_PER_SECOND;
      return paced(inTurn(reads), rate, { connections: 16 });
    },
  },
  {
    name: "page-assets-unread",
    shows: "The trading page's script is read from disk for a client that does not read.",
    prepare: async (target) => {
      const { text } = await target.get("/");
      const assets = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "/");
      return flood(pipeline(...["/", ...assets].map((path) => request({ path }))), UNREAD);
    },
  },
]);
