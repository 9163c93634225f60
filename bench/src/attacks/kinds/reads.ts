/** Reads whose answers are larger or more expensive than their requests. */
import { ask } from "../../harness/http.js";
import { request } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { type FloodOptions, flood, paced, pipeline, repeated, rotating } from "../wire/patterns.js";
import { FEW, MANY } from "./shared.js";

/** Connections that never read: the answers fill the server's buffers. */
const UNREAD = { connections: 20, isUnread: true };
/** Reads a second of one address without a token, and of one account. */
const READS_PER_SECOND = 100;
const ACCOUNT_READS_PER_SECOND = 50;
/** As many as one address may have. */
const CONNECTIONS = 128;
const BOOK = "/v1/markets/BTCUSD/book?depth=5000";

const flooding =
  (options: FloodOptions) =>
  (path: string): PrepareAttack =>
  () =>
    flood(pipeline(request({ path })), options);
const read = flooding(FEW);
const unread = flooding(UNREAD);
const atTheLimit =
  (path: string): PrepareAttack =>
  () =>
    paced(request({ path }), READS_PER_SECOND, FEW);

/** Reads of every veteran at the limit of its account. */
const ofAccounts =
  (path: string): PrepareAttack =>
  ({ veterans }) => {
    const reads = veterans.map(({ token }) => request({ path, token }));
    return paced(rotating(reads), reads.length * ACCOUNT_READS_PER_SECOND, MANY);
  };

const TABLE = `
metrics-unread: Every pipelined request for metrics is answered, 1.9 ms each, although nobody reads.
metrics-read: Metrics have no limit.
openapi-unread: The schema, hundreds of kilobytes, is written for a client that does not read.
openapi-read: The schema is sent as often as limits allow, with refusals in between.
docs-read: The documentation page is served from memory.
health-unread: Health checks have no limit and their answers may pile up.
readiness-read: Readiness has no limit and asks the venue each time.
book-full-read: A whole book as text, with pipelined refusals behind.
book-full-unread: Whole books pile up for a client that does not read.
book-full-at-the-limit: A whole book 100 times a second, which limits allow.
candles-at-the-limit: A thousand candles 100 times a second are read from the history.
trades-at-the-limit: A thousand trades 100 times a second are read from the history and encoded.
blocks-at-the-limit: Blocks are looked up 100 times a second.
long-queries: Queries of 8 KB with hundreds of parameters are parsed before they are refused.
fills-at-the-limit: A thousand fills for each of eight accounts are read as often as limits allow.
orders-all-at-the-limit: A thousand past orders for each of eight accounts are read as often as limits allow.
deposits-list-at-the-limit: A thousand deposits are read as often as limits allow.
account-at-the-limit: Account and open orders are read as often as limits allow.
order-by-nonce-at-the-limit: Past orders by nonce are read as often as limits allow.
fills-unread: Lists of a thousand fills pile up for a client that does not read.
preconfirms-at-the-limit: Merkle paths are computed for every request.
answers-unread-on-every-connection: All connections of an address ask and never read: 4 MB of the kernel's memory each.
page-assets-unread: The trading page's script is read from disk for a client that does not read.
`;

export const READ_ATTACKS = attacksOf("reads", TABLE, {
  "answers-unread-on-every-connection": () => {
    const schema = request({ path: "/v1/openapi.json" });
    const opening = repeated(schema, 20);
    return paced(schema, CONNECTIONS, { connections: CONNECTIONS, isUnread: true, opening });
  },
  "metrics-unread": unread("/metrics"),
  "metrics-read": read("/metrics"),
  "openapi-unread": unread("/v1/openapi.json"),
  "openapi-read": read("/v1/openapi.json"),
  "docs-read": read("/docs"),
  "health-unread": unread("/healthz"),
  "readiness-read": read("/readyz"),
  "book-full-read": read(BOOK),
  "book-full-unread": unread(BOOK),
  "book-full-at-the-limit": atTheLimit(BOOK),
  "candles-at-the-limit": atTheLimit("/v1/markets/BTCUSD/candles?resolution=1m&limit=1000"),
  "trades-at-the-limit": atTheLimit("/v1/markets/BTCUSD/trades?limit=1000"),
  "blocks-at-the-limit": atTheLimit("/v1/blocks/2"),
  "long-queries": read(`/v1/markets/BTCUSD/book?${"a=%41&".repeat(1_300)}depth=5`),
  "fills-at-the-limit": ofAccounts("/v1/fills?limit=1000"),
  "orders-all-at-the-limit": ofAccounts("/v1/orders?status=all&limit=1000"),
  "deposits-list-at-the-limit": ofAccounts("/v1/bridge/deposits"),
  "account-at-the-limit": ofAccounts("/v1/account"),
  "order-by-nonce-at-the-limit": ofAccounts("/v1/orders?status=all&nonce=999999"),
  "fills-unread": ({ veterans }) => {
    const path = "/v1/fills?limit=1000";
    return flood(pipeline(...veterans.map(({ token }) => request({ path, token }))), UNREAD);
  },
  "preconfirms-at-the-limit": async ({ address, veterans }) => {
    const reads: Buffer[] = [];
    for (const { token } of veterans) {
      const { text } = await ask(address, "/v1/orders?status=all&limit=50", { token });
      const ids = [...text.matchAll(/"orderId":"(\d+)"/g)].map(([, id]) => id);
      // An account without orders requests another account's.
      for (const id of ids.length > 0 ? ids : ["1"]) {
        reads.push(request({ path: `/v1/preconfirms/${id}`, token }));
      }
    }
    return paced(rotating(reads), veterans.length * ACCOUNT_READS_PER_SECOND, MANY);
  },
  "page-assets-unread": async ({ address }) => {
    const { text } = await ask(address, "/");
    const assets = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "/");
    return flood(pipeline(...["/", ...assets].map((path) => request({ path }))), UNREAD);
  },
});
