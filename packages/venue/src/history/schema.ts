/**
 * The schema of the store, documented in docs/store.md. Tables hold the engine's integers: prices in ticks,
 * sizes in lots, money in micro-dollars, times in Unix milliseconds. What another row tells is not stored a
 * second time: a placement's acknowledgement is part of its order's row, and a fill, a change and an
 * amendment's acknowledgement take an order's terms from there. The views have
 * names and units.
 */

import { END_REASONS, ORDER_STATUSES, ORDER_TYPES } from "@perpgate/protocol/acknowledgement-leaf";
import { CANDLE_PRICES, RESOLUTIONS, WITHDRAWAL_STATUSES } from "@perpgate/protocol/core";
import { EMPTY_DIGEST } from "../blocks/merkle.js";

/** Another number: the store is rebuilt from the log. */
export const HISTORY_FORMAT = 15;

/**
 * All acknowledgements by position. Equal columns of both halves must have one affinity: otherwise SQLite does
 * not merge their indexes, but sorts all rows for the first one.
 */
export const ACK_LEAVES = `
SELECT
  id AS seq, ack_type AS type, ack_status AS status, ack_reason AS reason, ack_filled_lots AS filled_lots,
  ack_filled_micros AS filled_micros, ack_fee AS fee, ack_remaining AS remaining,
  ack_position_lots AS position_lots, ack_position_cost AS position_cost,
  ack_unrealized AS unrealized, ack_block AS block, ack_digest AS digest, created AS time,
  id AS order_id, account, market, side, session, nonce, client_order_id, CAST(NULL AS BLOB) AS other_leaf
FROM order_rows WHERE ack_status IS NOT NULL
UNION ALL SELECT
  a.seq, a.type, a.status, a.reason, a.filled_lots, a.filled_micros, a.fee, a.remaining,
  a.position_lots, a.position_cost, a.unrealized, a.block, a.digest, a.time,
  o.id, o.account, o.market, o.side, a.session, a.nonce, o.client_order_id, a.other_leaf
FROM ack_rows a LEFT JOIN order_rows o ON o.id = a.order_id`;

const TABLES_SQL = `
CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  format INTEGER NOT NULL, log TEXT NOT NULL,
  position INTEGER NOT NULL, batch INTEGER NOT NULL, record INTEGER NOT NULL, needs INTEGER NOT NULL,
  changes_from INTEGER NOT NULL, kept_from INTEGER NOT NULL, kept_from_ms INTEGER NOT NULL
);
CREATE TABLE market_rows (
  market INTEGER PRIMARY KEY, symbol TEXT, tick_size REAL, lot_size REAL
);
CREATE TABLE order_rows (
  id INTEGER, account INTEGER, market INTEGER, side INTEGER, type INTEGER, price INTEGER, lots INTEGER,
  margin INTEGER, leverage INTEGER, reduce_only INTEGER, post_only INTEGER, nonce INTEGER,
  session INTEGER, status INTEGER, reason INTEGER, filled_lots INTEGER, filled_micros INTEGER,
  fee INTEGER, remaining INTEGER, created INTEGER, updated_after INTEGER,
  time_in_force INTEGER, expires INTEGER, stop_trigger INTEGER, limit_price INTEGER,
  close_position INTEGER, client_order_id TEXT, client_key INTEGER,
  ack_type INTEGER, ack_status INTEGER, ack_reason INTEGER, ack_filled_lots INTEGER, ack_filled_micros INTEGER,
  ack_fee INTEGER, ack_remaining INTEGER, ack_position_lots INTEGER, ack_position_cost INTEGER,
  ack_unrealized INTEGER, ack_block INTEGER, ack_digest BLOB,
  PRIMARY KEY (id)
) WITHOUT ROWID;
CREATE INDEX orders_of_account ON order_rows (account, market, id);
CREATE INDEX orders_by_nonce ON order_rows (account, nonce, id);
CREATE INDEX orders_by_client_id ON order_rows (account, client_key, id, market)
  WHERE client_key IS NOT NULL;
CREATE TABLE fill_rows (
  account INTEGER, market INTEGER, seq INTEGER, ordinal INTEGER, order_id INTEGER, kind INTEGER,
  side INTEGER, price INTEGER, lots INTEGER, fee INTEGER, is_taker INTEGER, pnl INTEGER,
  block INTEGER, time INTEGER, balance INTEGER,
  PRIMARY KEY (account, market, seq, ordinal)
) WITHOUT ROWID;
CREATE TABLE trade_rows (
  market INTEGER, seq INTEGER, ordinal INTEGER, price INTEGER, lots INTEGER, side INTEGER, time INTEGER,
  PRIMARY KEY (market, seq, ordinal)
) WITHOUT ROWID;
CREATE TABLE candle_rows (
  market INTEGER, series INTEGER, time INTEGER, open INTEGER, high INTEGER, low INTEGER,
  close INTEGER, lots INTEGER, trades INTEGER, turnover INTEGER,
  PRIMARY KEY (market, series, time)
) WITHOUT ROWID;
CREATE TABLE funding_rows (
  market INTEGER, time INTEGER, rate INTEGER, mark INTEGER,
  PRIMARY KEY (market, time)
) WITHOUT ROWID;
CREATE TABLE payment_rows (
  account INTEGER, market INTEGER, seq INTEGER, ordinal INTEGER, kind INTEGER, amount INTEGER,
  balance INTEGER, detail INTEGER, time INTEGER,
  PRIMARY KEY (account, market, seq, ordinal)
) WITHOUT ROWID;
CREATE TABLE ledger_rows (
  account INTEGER, market INTEGER, seq INTEGER, ordinal INTEGER, kind INTEGER, amount INTEGER,
  balance INTEGER, detail INTEGER, time INTEGER,
  PRIMARY KEY (account, market, seq, ordinal)
) WITHOUT ROWID;
CREATE TABLE position_rows (
  account INTEGER, market INTEGER, lots INTEGER, cost INTEGER, margin INTEGER, updated INTEGER,
  PRIMARY KEY (account, market)
) WITHOUT ROWID;
CREATE TABLE ack_rows (
  seq INTEGER PRIMARY KEY, order_id INTEGER, session INTEGER, nonce INTEGER, type INTEGER, status INTEGER, reason INTEGER,
  filled_lots INTEGER, filled_micros INTEGER, fee INTEGER, remaining INTEGER, position_lots INTEGER,
  position_cost INTEGER, unrealized INTEGER, block INTEGER, digest BLOB, time INTEGER, other_leaf BLOB
);
CREATE VIEW ack_leaves AS ${ACK_LEAVES};
CREATE TABLE result_rows (seq INTEGER PRIMARY KEY, words BLOB, digest BLOB);
CREATE TABLE change_rows_0 (
  account INTEGER, seq INTEGER, ordinal INTEGER, order_id INTEGER, words BLOB,
  PRIMARY KEY (account, seq, ordinal)
) WITHOUT ROWID;
CREATE TABLE change_rows_1 (
  account INTEGER, seq INTEGER, ordinal INTEGER, order_id INTEGER, words BLOB,
  PRIMARY KEY (account, seq, ordinal)
) WITHOUT ROWID;
CREATE VIEW change_rows AS
SELECT account, seq, ordinal, order_id, words FROM change_rows_0
UNION ALL SELECT account, seq, ordinal, order_id, words FROM change_rows_1;
CREATE TABLE block_rows (
  number INTEGER PRIMARY KEY, first INTEGER, last INTEGER, acks INTEGER, time INTEGER, header BLOB
);
CREATE TABLE tree_rows (
  level INTEGER, place INTEGER, hash BLOB,
  PRIMARY KEY (level, place)
) WITHOUT ROWID;
CREATE TABLE session_rows (session INTEGER PRIMARY KEY, public_key BLOB, message BLOB);
CREATE TABLE deposit_rows (
  account INTEGER, deposit INTEGER,
  PRIMARY KEY (account, deposit)
) WITHOUT ROWID;
CREATE TABLE watcher_rows (deposit INTEGER PRIMARY KEY, accounts BLOB);
CREATE TABLE vote_rows (
  deposit INTEGER, attestor INTEGER, part INTEGER, registered INTEGER, public_key BLOB, signature BLOB,
  signed BLOB,
  PRIMARY KEY (deposit, attestor, part)
) WITHOUT ROWID;
CREATE TABLE withdrawal_rows (
  account INTEGER, withdrawal INTEGER, nonce INTEGER, chain TEXT, token TEXT, amount INTEGER, fee INTEGER,
  requested INTEGER, deadline INTEGER, status INTEGER, ended INTEGER, tx TEXT, digest TEXT,
  PRIMARY KEY (account, withdrawal)
) WITHOUT ROWID;
CREATE TABLE withdrawal_vote_rows (
  withdrawal INTEGER, attestor INTEGER, place INTEGER, public_key BLOB, signature BLOB, signed BLOB,
  PRIMARY KEY (withdrawal, attestor, place)
) WITHOUT ROWID;
`;

/** The names of an enumeration by its numbers. */
function named(column: string, names: readonly string[]): string {
  const cases = names.map((name, i) => `WHEN ${i} THEN '${name}'`).join(" ");
  return `CASE ${column} ${cases} END`;
}

const SIDE = (column: string) => `CASE ${column} WHEN 1 THEN 'long' ELSE 'short' END`;
const USD = (column: string) => `${column} / 1e6`;
const UTC = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1e3, 'unixepoch')`;
const PRICE = (column: string) => `round((${column}) * m.tick_size, 9)`;
const SIZE = (column: string) => `round((${column}) * m.lot_size, 9)`;
const ORDER_ID = (column: string) =>
  `CASE WHEN ${column} > CAST(${column} AS INTEGER)
   THEN CAST(${column} AS INTEGER) || '.' || CAST((${column} - CAST(${column} AS INTEGER)) * 4 AS INTEGER)
   ELSE CAST(CAST(${column} AS INTEGER) AS TEXT) END`;

const LEDGER_KINDS = [
  ...["deposit", "grant", "fee", "pnl", "funding", "liquidation", "adl", "settlement", "margin"],
  ...["withdrawal", "withdrawalFee"],
];
const FILL_KINDS = ["order", "liquidation", "backstop", "adl"];

const VIEWS_SQL = `
CREATE VIEW markets AS SELECT market, symbol, tick_size, lot_size FROM market_rows;
CREATE VIEW orders AS SELECT
  ${ORDER_ID("o.id")} AS order_id, o.account, m.symbol, ${SIDE("o.side")} AS side,
  ${named("o.type", ORDER_TYPES)} AS type, nullif(${PRICE("o.price")}, 0) AS price,
  ${SIZE("o.filled_lots + o.remaining")} AS size, ${SIZE("o.filled_lots")} AS filled_size,
  ${SIZE("o.remaining")} AS remaining_size,
  CASE WHEN o.filled_lots > 0 THEN ${USD("o.filled_micros")} / (o.filled_lots * m.lot_size) END
    AS average_price,
  ${USD("o.filled_micros")} AS filled_usd, ${USD("o.fee")} AS fee_usd, ${USD("o.margin")} AS margin_usd,
  o.leverage, o.reduce_only, o.post_only, ${named("o.status", ORDER_STATUSES)} AS status,
  nullif(${named("o.reason", END_REASONS)}, 'none') AS end_reason, o.nonce, o.session, o.client_order_id,
  o.created AS created_ms, o.created + o.updated_after AS updated_ms, ${UTC("o.created")} AS created_at
FROM order_rows o JOIN market_rows m ON m.market = o.market;
CREATE VIEW fills AS SELECT
  f.seq AS position, f.ordinal, f.account, m.symbol,
  CASE WHEN f.order_id > 0 THEN ${ORDER_ID("f.order_id")} END AS order_id,
  ${named("f.kind", FILL_KINDS)} AS kind, ${SIDE("f.side")} AS side, ${PRICE("f.price")} AS price,
  ${SIZE("f.lots")} AS size, round(f.price * m.tick_size * f.lots * m.lot_size, 6) AS notional_usd,
  ${USD("f.fee")} AS fee_usd, ${USD("f.pnl")} AS pnl_usd,
  CASE f.is_taker WHEN 1 THEN 'taker' ELSE 'maker' END AS role, ${USD("f.balance")} AS balance_usd,
  f.block, f.time AS time_ms, ${UTC("f.time")} AS time_at
FROM fill_rows f JOIN market_rows m ON m.market = f.market;
CREATE VIEW trades AS SELECT
  t.seq AS position, t.ordinal, m.symbol, ${PRICE("t.price")} AS price, ${SIZE("t.lots")} AS size,
  ${SIDE("t.side")} AS taker_side, t.time AS time_ms, ${UTC("t.time")} AS time_at
FROM trade_rows t JOIN market_rows m ON m.market = t.market;
CREATE VIEW candles AS SELECT
  m.symbol, ${named("c.series", RESOLUTIONS)} AS resolution, c.time AS time_ms,
  ${UTC("c.time")} AS time_at, ${PRICE("c.open")} AS open, ${PRICE("c.high")} AS high,
  ${PRICE("c.low")} AS low, ${PRICE("c.close")} AS close, ${SIZE("c.lots")} AS volume, c.trades
FROM candle_rows c JOIN market_rows m ON m.market = c.market WHERE c.series < ${RESOLUTIONS.length};
CREATE VIEW price_candles AS SELECT
  m.symbol, ${named(`c.series / ${RESOLUTIONS.length}`, CANDLE_PRICES)} AS price_of,
  ${named(`c.series % ${RESOLUTIONS.length}`, RESOLUTIONS)} AS resolution, c.time AS time_ms,
  ${UTC("c.time")} AS time_at, ${PRICE("c.open")} AS open, ${PRICE("c.high")} AS high,
  ${PRICE("c.low")} AS low, ${PRICE("c.close")} AS close
FROM candle_rows c JOIN market_rows m ON m.market = c.market WHERE c.series >= ${RESOLUTIONS.length};
CREATE VIEW funding AS SELECT
  m.symbol, f.time AS time_ms, ${UTC("f.time")} AS time_at, f.rate / 1e9 AS rate,
  ${PRICE("f.mark")} AS mark_price
FROM funding_rows f JOIN market_rows m ON m.market = f.market;
CREATE VIEW funding_payments AS SELECT
  p.seq AS position, p.ordinal, p.account, m.symbol, ${USD("p.amount")} AS amount_usd,
  ${USD("p.balance")} AS balance_usd, p.time AS time_ms, ${UTC("p.time")} AS time_at
FROM payment_rows p JOIN market_rows m ON m.market = p.market;
CREATE VIEW ledger AS SELECT
  l.seq AS position, l.ordinal, l.account, m.symbol, ${named("l.kind", LEDGER_KINDS)} AS kind,
  ${USD("l.amount")} AS amount_usd, ${USD("l.balance")} AS balance_usd, l.detail, l.time AS time_ms,
  ${UTC("l.time")} AS time_at
FROM ledger_rows l LEFT JOIN market_rows m ON m.market = l.market;
CREATE VIEW withdrawals AS SELECT
  withdrawal AS position, account, chain, token, ${USD("amount")} AS amount_usd, ${USD("fee")} AS fee_usd,
  ${named("status", WITHDRAWAL_STATUSES)} AS status, nullif(tx, '') AS transaction_hash,
  deadline AS deadline_ms, requested AS requested_ms, nullif(ended, 0) AS ended_ms,
  ${UTC("requested")} AS requested_at
FROM withdrawal_rows;
CREATE VIEW positions AS SELECT
  p.account, m.symbol, ${SIZE("p.lots")} AS size,
  CASE WHEN p.lots <> 0 THEN ${USD("p.cost")} / (p.lots * m.lot_size) END AS entry_price,
  ${USD("p.margin")} AS margin_usd, p.updated AS updated_ms, ${UTC("p.updated")} AS updated_at
FROM position_rows p JOIN market_rows m ON m.market = p.market;
CREATE VIEW acknowledgements AS SELECT
  a.seq AS position, ${ORDER_ID("a.order_id")} AS order_id,
  ${named("a.status", ORDER_STATUSES)} AS status, nullif(${named("a.reason", END_REASONS)}, 'none') AS end_reason,
  a.block, lower(hex(coalesce(a.digest, x'${EMPTY_DIGEST.toString("hex")}'))) AS body_sha256, a.time AS time_ms, ${UTC("a.time")} AS time_at
FROM ack_leaves a WHERE a.other_leaf IS NULL;
CREATE VIEW blocks AS SELECT
  number, first AS first_position, last AS last_position, acks AS acknowledgements, time AS time_ms,
  ${UTC("time")} AS time_at
FROM block_rows;
`;

export const SCHEMA = TABLES_SQL + VIEWS_SQL;
