/**
 * How the rows of each table are stored: the columns of its key and of its words, and back. In memory a row
 * is a key (keys.ts) and bytes; see schema.ts for what a stored row leaves out because another one has it.
 */

import { EVENT } from "@perpgate/engine";
import { CLIENT_ID_WORDS, clientIdOf, clientIdWords } from "@perpgate/protocol/client-order-id";
import { exitKindOf, isOrderLeaf, isPlainLeaf, parentOf } from "@perpgate/protocol/core";
import { decodeBlock, HASH_BYTES } from "../blocks/block-header.js";
import { EMPTY_DIGEST } from "../blocks/merkle.js";
import { ACKNOWLEDGED } from "../event-fields.js";
import { HistoryDamaged } from "../venue-errors.js";
import { decodeAck, encodeAck } from "./ack-row.js";
import { CANDLE_SERIES } from "./candle-projection.js";
import { CHANGE, CHANGED_ORDER, FLAG, KINDS, MONEY_WORDS } from "./change-projection.js";
import { decodeVote, encodeVote } from "./deposit-projection.js";
import { FILL_ROW, FILL_WORDS } from "./fill-projection.js";
import type { TableName } from "./history-environment.js";
import {
  accountGroup,
  clientIdPlace,
  groupOf,
  keyOf,
  lastOf,
  MARKETS,
  ordinalOf,
  placeOf,
  wideKeyOf,
} from "./keys.js";
import { EXTENDED_ROW, EXTENDED_ROW_WORDS, ORDER_ROW, ORDER_ROW_WORDS } from "./order-row.js";
import { decodeResult, encodeResult } from "./result-projection.js";
import { bytesOfWords, wordsOfBytes } from "./rows.js";
import { ACK_LEAVES } from "./schema.js";
import { decodeSessionKey, encodeSessionKey } from "./session-projection.js";
import type { Cell } from "./sqlite.js";
import { decodeWithdrawal, encodeWithdrawal, isWithdrawalRow } from "./withdrawal-projection.js";
import { packWords, unpackWords } from "./word-blob.js";

export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface RowCodec {
  /** Where rows are read from, and which of them. */
  readonly from: string;
  readonly where?: string;
  /** The columns of the key, in order. */
  readonly keys: readonly string[];
  /** The other columns that are read. */
  readonly columns: readonly string[];
  /** The table that rows are written to; null if their table is an index of another one. */
  readonly table: string | null;
  /** The key's columns. */
  keyCells(key: Buffer): readonly number[];
  /** All cells of a row, as the table is declared. */
  cells(key: Buffer, value: Buffer): readonly Cell[];
  /** The row of `keys` and `columns`. @throws {HistoryDamaged} */
  entry(cells: readonly Cell[]): Entry;
}

interface KeyCodec {
  readonly keys: readonly string[];
  cells(key: Buffer): number[];
  key(cells: readonly Cell[]): Buffer;
}

const one = (name: string): KeyCodec => ({
  keys: [name],
  cells: (key) => [groupOf(key)],
  key: (cells) => keyOf(numberAt(cells, 0)),
});
const two = (first: string, second: string): KeyCodec => ({
  keys: [first, second],
  cells: (key) => [groupOf(key), placeOf(key)],
  key: (cells) => keyOf(numberAt(cells, 0), numberAt(cells, 1)),
});
const three = (first: string, second: string, third: string): KeyCodec => ({
  keys: [first, second, third],
  cells: (key) => [groupOf(key), placeOf(key), ordinalOf(key)],
  key: (cells) => keyOf(numberAt(cells, 0), numberAt(cells, 1), numberAt(cells, 2)),
});
/** A group that consists of two numbers, the second below `base`. */
const split = (base: number, names: readonly string[]): KeyCodec => ({
  keys: names,
  cells(key) {
    const group = groupOf(key);
    const low = group % base;
    return [(group - low) / base, low, placeOf(key), ordinalOf(key)].slice(0, names.length);
  },
  key: (cells) =>
    keyOf(
      numberAt(cells, 0) * base + numberAt(cells, 1),
      numberAt(cells, 2),
      names.length > 3 ? numberAt(cells, 3) : 0,
    ),
});
const wide = (...keys: [string, string, string]): KeyCodec => ({
  keys,
  cells: (key) => [groupOf(key), placeOf(key), lastOf(key)],
  key: (cells) => wideKeyOf(numberAt(cells, 0), numberAt(cells, 1), numberAt(cells, 2)),
});
const byMarket = split(MARKETS, ["account", "market", "seq", "ordinal"]);

/** A table whose cells follow from those of its key and its value. */
function coded(
  table: string,
  key: KeyCodec,
  columns: readonly string[],
  encode: (value: Buffer, key: Buffer) => readonly Cell[],
  decode: (cells: readonly Cell[], key: Buffer) => Buffer,
  from = table,
): RowCodec {
  const { keys } = key;
  return {
    table,
    from,
    keys,
    columns,
    keyCells: key.cells,
    cells: (bytes, value) => [...key.cells(bytes), ...encode(value, bytes)],
    entry(cells) {
      const bytes = key.key(cells);
      return { key: bytes, value: decode(cells.slice(keys.length), bytes) };
    },
  };
}

/** A table of words, one column each; those that are missing at the end are NULL. */
function numeric(table: string, key: KeyCodec, columns: readonly string[]): RowCodec {
  return coded(
    table,
    key,
    columns,
    (value) => padded(wordsOfBytes(value), columns.length),
    (cells) => bytesOfWords(presentNumbers(cells)),
  );
}

/** As `numeric`, for rows that have the market of their key as a word, too. */
function withMarket(table: string, marketWord: number, columns: readonly string[]): RowCodec {
  return coded(
    table,
    byMarket,
    columns,
    (value) => wordsOfBytes(value).toSpliced(marketWord, 1),
    (cells, key) =>
      bytesOfWords(presentNumbers(cells).toSpliced(marketWord, 0, groupOf(key) % MARKETS)),
  );
}

function blob(table: string, key: KeyCodec, column: string): RowCodec {
  return coded(
    table,
    key,
    [column],
    (value) => [value],
    (cells) => bytesAt(cells, 0),
  );
}

const BALANCE_COLUMNS = ["kind", "amount", "balance", "detail", "time"];
const LEDGER_MARKET = 1;

const ORDER_COLUMNS = [
  ...["side", "type", "price", "lots", "margin", "leverage", "reduce_only", "post_only", "nonce"],
  ...["session", "status", "reason", "filled_lots", "filled_micros", "fee", "remaining", "created"],
  ...["updated_after", "time_in_force", "expires", "stop_trigger", "limit_price"],
  ...["close_position", "client_order_id"],
];
const PLAIN_COLUMNS = ORDER_COLUMNS.indexOf("time_in_force");
const ORDER_KEY_WORDS = 3;
/** Places of an order's exits after it: ids of exits are quarters (order-id.ts). */
const EXITS = 4;

/** Order: id, account and market, then the columns, then the place of the client's id. */
export function orderCells(value: Buffer): Cell[] {
  const words = wordsOfBytes(value);
  const cells: Cell[] = words.slice(0, EXTENDED_ROW.CLIENT);
  cells[ORDER_ROW.UPDATED] = words[ORDER_ROW.UPDATED]! - words[ORDER_ROW.CREATED]!;
  if (words.length === ORDER_ROW_WORDS) {
    for (let i = ORDER_ROW_WORDS; i <= EXTENDED_ROW.CLIENT + 1; i++) cells.push(null);
    return cells;
  }
  const id = clientIdIn(words, EXTENDED_ROW.CLIENT);
  cells.push(id, id === null ? null : clientIdPlace(words, EXTENDED_ROW.CLIENT));
  return cells;
}

/** `cells` begin with the order's id, account and market. */
function orderWords(cells: readonly Cell[]): number[] {
  const isExtended = cells[ORDER_KEY_WORDS + PLAIN_COLUMNS] !== null;
  const plain = numbers(cells.slice(0, ORDER_ROW_WORDS));
  plain[ORDER_ROW.UPDATED] = plain[ORDER_ROW.UPDATED]! + plain[ORDER_ROW.CREATED]!;
  if (!isExtended) return plain;
  const terms = numbers(cells.slice(ORDER_ROW_WORDS, EXTENDED_ROW.CLIENT));
  return [...plain, ...terms, ...clientWordsOf(cells[EXTENDED_ROW.CLIENT])];
}

const orders: RowCodec = {
  table: "order_rows",
  from: "order_rows",
  keys: ["account", "market", "id"],
  columns: ORDER_COLUMNS,
  keyCells(key) {
    const [account = 0, market = 0, order = 0, exit = 0] = byMarket.cells(key);
    return [account, market, order + Math.min(exit, EXITS - 1) / EXITS];
  },
  cells: (_, value) => [...orderCells(value), ...Array<null>(PLACEMENT_COLUMNS).fill(null)],
  entry([account, market, id, ...rest]) {
    const words = orderWords([id ?? null, account ?? null, market ?? null, ...rest]);
    const [order = 0] = words;
    const group = accountGroup(words[ORDER_ROW.ACCOUNT]!, words[ORDER_ROW.MARKET]!);
    return { key: keyOf(group, parentOf(order), exitKindOf(order)), value: bytesOfWords(words) };
  },
};

/** Names of orders: an index of their rows. */
function orderIndex(column: string, where: string): RowCodec {
  const key = wide("account", column, "id");
  return {
    table: null,
    from: "order_rows",
    where,
    keys: key.keys,
    columns: ["market"],
    keyCells: key.cells,
    cells: () => [],
    entry(cells) {
      const market = Buffer.allocUnsafe(2);
      market.writeUInt16BE(numberAt(cells, 3));
      return { key: key.key(cells), value: market };
    },
  };
}

/** The words of a fill that are stored: not the market, which its key has. */
const fills = coded(
  "fill_rows",
  byMarket,
  [
    ...["order_id", "kind", "side", "price", "lots", "fee", "is_taker", "pnl", "block", "time"],
    ...["balance", "(SELECT client_order_id FROM order_rows WHERE id = order_id)"],
  ],
  (value) => wordsOfBytes(value.subarray(0, FILL_WORDS * 8)).toSpliced(FILL_ROW.MARKET, 1),
  (cells, key) => {
    const client = cells.at(-1);
    const words = numbers(cells.slice(0, -1)).toSpliced(FILL_ROW.MARKET, 0, groupOf(key) % MARKETS);
    return bytesOfWords(client === null ? words : [...words, ...clientWordsOf(client)]);
  },
);

/** Fields of an acknowledgement that are not its order's. */
const ACK_FIELDS = [
  ...(["type", "status", "reason", "filledLots", "filledMicros", "feeMicros"] as const),
  ...(["remainingLots", "positionLots", "positionCostMicros", "unrealizedMicros"] as const),
  "block" as const,
];
/** Its order's; an amendment has a session and a nonce of its own. */
const ACK_TERMS = ["orderId", "account", "market", "side", "session", "nonce"] as const;
const ACK_COLUMNS = [
  ...["type", "status", "reason", "filled_lots", "filled_micros", "fee", "remaining"],
  ...["position_lots", "position_cost", "unrealized", "block", "digest", "time"],
  ...["order_id", "account", "market", "side", "session", "nonce", "client_order_id"],
  "other_leaf",
];
/** Columns at the end of `order_rows` for the acknowledgement of its placement. */
export const PLACEMENT_COLUMNS = ACK_FIELDS.length + 1;

/** An acknowledgement on its way to its table, or into the row of the order that it placed. */
export interface AckCells {
  readonly seq: number;
  readonly isPlacement: boolean;
  /** As `ACK_FIELDS`, then the digest. */
  readonly fields: readonly Cell[];
  /** Of `ack_rows`. */
  readonly cells: readonly Cell[];
}

export function ackCells(key: Buffer, value: Buffer): AckCells {
  const seq = groupOf(key);
  const { leaf, digest, timeMs } = decodeAck(seq, value);
  if (!isOrderLeaf(leaf)) {
    const none = Array<null>(3 + ACK_FIELDS.length).fill(null);
    return { seq, isPlacement: false, fields: [], cells: [seq, ...none, digest, timeMs, leaf] };
  }
  const words = wordsOfBytes(leaf);
  const order = words[ACKNOWLEDGED.orderId]!;
  const fields: Cell[] = ACK_FIELDS.map((name) => words[ACKNOWLEDGED[name]]!);
  // Of an operation of a batch after the first, whose body is that of the first.
  fields.push(digest.equals(EMPTY_DIGEST) ? null : digest);
  const isPlacement = order === seq;
  const own = [words[ACKNOWLEDGED.session]!, words[ACKNOWLEDGED.nonce]!];
  const cells = isPlacement ? [] : [seq, order, ...own, ...fields, timeMs, null];
  return { seq, isPlacement, fields, cells };
}

const acks: RowCodec = {
  table: "ack_rows",
  from: `(${ACK_LEAVES})`,
  keys: ["seq"],
  columns: ACK_COLUMNS,
  keyCells: one("seq").cells,
  cells: (key, value) => ackCells(key, value).cells,
  entry([seqCell, ...cells]) {
    const seq = numberOf(seqCell);
    const other = cells.at(-1) ?? null;
    if (other !== null) {
      const [digest, time] = [
        bytesAt(cells, ACK_FIELDS.length),
        numberAt(cells, ACK_FIELDS.length + 1),
      ];
      return { key: keyOf(seq), value: encodeAck(bytesOf(other), digest, time) };
    }
    const client = clientWordsOf(cells.at(-2));
    const words: number[] = Array(ACKNOWLEDGED.client1 + CLIENT_ID_WORDS).fill(0);
    words[0] = EVENT.OrderAcknowledged;
    words[ACKNOWLEDGED.ackNonce] = seq;
    for (const [i, name] of ACK_FIELDS.entries()) words[ACKNOWLEDGED[name]] = numberAt(cells, i);
    const stored = cells[ACK_FIELDS.length];
    const digest = stored === null ? EMPTY_DIGEST : bytesOf(stored);
    if (digest.length !== HASH_BYTES) throw new HistoryDamaged(`the digest at ${seq} is cut short`);
    const timeMs = numberAt(cells, ACK_FIELDS.length + 1);
    for (const [i, name] of ACK_TERMS.entries()) {
      words[ACKNOWLEDGED[name]] = numberAt(cells, ACK_FIELDS.length + 2 + i);
    }
    for (const [i, word] of client.entries()) words[ACKNOWLEDGED.client1 + i] = word;
    const order = words[ACKNOWLEDGED.orderId]!;
    const isPlain = isPlainLeaf(order, seq, client[0]);
    const leaf = bytesOfWords(isPlain ? words.slice(0, ACKNOWLEDGED.ackNonce) : words);
    return { key: keyOf(seq), value: encodeAck(leaf, digest, timeMs) };
  },
};

/** The words of a changed order that its row does not keep as they were. */
const CHANGED = [
  ...[ORDER_ROW.PRICE, ORDER_ROW.LOTS, ORDER_ROW.MARGIN, ORDER_ROW.STATUS, ORDER_ROW.REASON],
  ...[ORDER_ROW.FILLED_LOTS, ORDER_ROW.FILLED_MICROS, ORDER_ROW.FEE, ORDER_ROW.REMAINING],
  ORDER_ROW.UPDATED,
];
const CHANGED_TERMS = [EXTENDED_ROW.EXPIRES, EXTENDED_ROW.LIMIT];
const CHANGED_TERMS_AT = 1 + CHANGED.length;

/** Kind, the changed words, and the money, whose equity is stored as what it is above the rest. */
function changeCells(value: Buffer): readonly Cell[] {
  const words = wordsOfBytes(value);
  const kind = words[0]!;
  const money = hasMoney(kind) ? words.splice(-MONEY_WORDS) : [];
  if (money.length > 0) money[3] = money[3]! - money[2]! - money[1]! - money[0]!;
  if (kind % KINDS !== CHANGE.ORDER) return [null, packWords([...words, ...money])];
  const row = words.slice(CHANGED_ORDER);
  const isExtended = row.length === EXTENDED_ROW_WORDS;
  const kept = (isExtended ? [...CHANGED, ...CHANGED_TERMS] : CHANGED).map((i) => row[i]!);
  kept[CHANGED.length - 1] = row[ORDER_ROW.UPDATED]! - row[ORDER_ROW.CREATED]!;
  return [row[ORDER_ROW.ID]!, packWords([kind, ...kept, ...money])];
}

function changeOf([orderId, packed, ...order]: readonly Cell[]): Buffer {
  const words = unpackWords(bytesOf(packed));
  const kind = words[0] ?? Number.NaN;
  const money = hasMoney(kind) ? words.splice(-MONEY_WORDS) : [];
  if (money.length > 0) money[3] = money[3]! + money[2]! + money[1]! + money[0]!;
  if (kind % KINDS !== CHANGE.ORDER) return bytesOfWords([...words, ...money]);
  const isExtended = words.length > CHANGED_TERMS_AT;
  const now = orderWords([orderId ?? null, ...order]);
  const row = isExtended ? now : now.slice(0, ORDER_ROW_WORDS);
  for (const [i, word] of CHANGED.entries()) row[word] = words[1 + i] ?? Number.NaN;
  row[ORDER_ROW.UPDATED] = row[ORDER_ROW.UPDATED]! + row[ORDER_ROW.CREATED]!;
  if (isExtended) {
    for (const [i, word] of CHANGED_TERMS.entries()) row[word] = words[CHANGED_TERMS_AT + i]!;
  }
  return bytesOfWords([kind, ...row, ...money]);
}

function hasMoney(kind: number): boolean {
  return Math.floor(kind / FLAG.MONEY) % 2 === 1;
}

/** Each table with the orders' terms: the union of two joins is read in the order of their keys. */
const CHANGES_FROM = [0, 1]
  .map((turn) => {
    const terms = ["account", "market", ...ORDER_COLUMNS].map((name) => `o.${name} AS o_${name}`);
    return `SELECT c.account, c.seq, c.ordinal, c.order_id, c.words, ${terms.join(", ")}
      FROM change_rows_${turn} c LEFT JOIN order_rows o ON o.id = c.order_id`;
  })
  .join(" UNION ALL ");

const changes = coded(
  "change_rows_0",
  three("account", "seq", "ordinal"),
  ["order_id", "words", ...["account", "market", ...ORDER_COLUMNS].map((name) => `o_${name}`)],
  changeCells,
  changeOf,
  `(${CHANGES_FROM})`,
);

const blocks = coded(
  "block_rows",
  one("number"),
  ["header"],
  (header) => {
    const block = decodeBlock(header);
    const { firstPosition = 0, lastPosition = 0, ackCount = 0, timeMs = 0 } = block ?? {};
    return [firstPosition, lastPosition, ackCount, timeMs, header];
  },
  (cells) => bytesAt(cells, 0),
);

const PRESENT = Buffer.from([1]);

export const CODECS: Readonly<Record<TableName, RowCodec>> = {
  acks,
  blocks,
  fills,
  trades: numeric("trade_rows", three("market", "seq", "ordinal"), [
    "price",
    "lots",
    "side",
    "time",
  ]),
  candles: numeric("candle_rows", split(CANDLE_SERIES, ["market", "series", "time"]), [
    ...["open", "high", "low", "close", "lots", "trades", "turnover"],
  ]),
  funding: numeric("funding_rows", two("market", "time"), ["rate", "mark"]),
  orders,
  // An exit has the nonce of its order, and is found through it.
  nonces: orderIndex("nonce", "typeof(id) = 'integer'"),
  clientIds: orderIndex("client_key", "client_key IS NOT NULL"),
  positions: numeric("position_rows", two("account", "market"), [
    ...["lots", "cost", "margin", "updated"],
  ]),
  sessions: coded(
    "session_rows",
    one("session"),
    ["public_key", "message"],
    (value) => {
      const { publicKey, message } = decodeSessionKey(value);
      return [publicKey, message];
    },
    (cells) =>
      encodeSessionKey({ publicKey: bytesOrNone(cells, 0), message: bytesOrNone(cells, 1) }),
  ),
  changes,
  deposits: coded(
    "deposit_rows",
    two("account", "deposit"),
    [],
    () => [],
    () => PRESENT,
  ),
  watchers: coded(
    "watcher_rows",
    one("deposit"),
    ["accounts"],
    (value) => [packWords(wordsOfBytes(value))],
    (cells) => bytesOfWords(unpackWords(bytesAt(cells, 0))),
  ),
  votes: coded(
    "vote_rows",
    three("deposit", "attestor", "part"),
    ["registered", "public_key", "signature", "signed"],
    (value) => {
      const { registeredAtMs, publicKey, signature, signed } = decodeVote(value);
      return [registeredAtMs, publicKey, signature, signed];
    },
    (cells) =>
      encodeVote(numberAt(cells, 0), {
        publicKey: bytesOrNone(cells, 1),
        signature: bytesOrNone(cells, 2),
        signed: bytesOrNone(cells, 3),
      }),
  ),
  withdrawals: coded(
    "withdrawal_rows",
    two("account", "withdrawal"),
    [
      "nonce",
      "chain",
      "token",
      "amount",
      "fee",
      "requested",
      "deadline",
      "status",
      "ended",
      "tx",
      "digest",
    ],
    (value) => {
      const row = decodeWithdrawal(value);
      const { nonce, chain, token, amountMicros, feeMicros, requestedAtMs, deadlineMs } = row;
      const { status, endedAtMs, txHash, digest } = row;
      const money = [amountMicros, feeMicros, requestedAtMs, deadlineMs];
      return [nonce, chain, token, ...money, status, endedAtMs, txHash, digest];
    },
    ([nonce, chain, token, amountMicros, feeMicros, requestedAtMs, deadlineMs, ...rest]) => {
      const [status, endedAtMs, txHash, digest] = rest;
      const money = { amountMicros, feeMicros, requestedAtMs, deadlineMs };
      const row = { nonce, chain, token, ...money, status, endedAtMs, txHash, digest };
      if (!isWithdrawalRow(row)) throw new HistoryDamaged("a withdrawal cannot be read");
      return encodeWithdrawal(row);
    },
  ),
  withdrawalVotes: coded(
    "withdrawal_vote_rows",
    three("withdrawal", "attestor", "place"),
    ["public_key", "signature", "signed"],
    (value) => {
      const { publicKey, signature, signed } = decodeVote(value);
      return [publicKey, signature, signed];
    },
    (cells) =>
      encodeVote(0, {
        publicKey: bytesOrNone(cells, 0),
        signature: bytesOrNone(cells, 1),
        signed: bytesOrNone(cells, 2),
      }),
  ),
  payments: withMarket("payment_rows", LEDGER_MARKET, BALANCE_COLUMNS),
  ledger: withMarket("ledger_rows", LEDGER_MARKET, BALANCE_COLUMNS),
  results: coded(
    "result_rows",
    one("seq"),
    ["words", "digest"],
    (value, key) => {
      const { words, digest } = decodeResult(groupOf(key), value);
      return [packWords(words), digest];
    },
    (cells) => encodeResult(unpackWords(bytesAt(cells, 0)), bytesOrNone(cells, 1)),
  ),
  tree: blob("tree_rows", two("level", "place"), "hash"),
  markets: coded(
    "market_rows",
    one("market"),
    ["symbol", "tick_size", "lot_size"],
    (value) => {
      const { symbol, tickSize, lotSize } = JSON.parse(value.toString());
      return [symbol, tickSize, lotSize];
    },
    ([symbol, tickSize, lotSize]) => Buffer.from(JSON.stringify({ symbol, tickSize, lotSize })),
  ),
};

function padded(cells: readonly Cell[], length: number): readonly Cell[] {
  const missing = length - cells.length;
  return missing <= 0 ? cells : [...cells, ...Array<null>(missing).fill(null)];
}

function clientIdIn(words: readonly number[], at: number): string | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = words.slice(at, at + CLIENT_ID_WORDS);
  return clientIdOf([a, b, c, d, e]);
}

function clientWordsOf(cell: Cell | undefined) {
  const words = clientIdWords(typeof cell === "string" ? cell : "");
  if (words === undefined) throw new HistoryDamaged("a client's id of an order cannot be read");
  return words;
}

function numberOf(cell: Cell | undefined): number {
  if (typeof cell === "number") return cell;
  throw new HistoryDamaged("a row holds something else than a number");
}

function numberAt(cells: readonly Cell[], at: number): number {
  return numberOf(cells[at]);
}

function numbers(cells: readonly Cell[]): number[] {
  return cells.map(numberOf);
}

/** Those before the first NULL. */
function presentNumbers(cells: readonly Cell[]): number[] {
  const end = cells.indexOf(null);
  return numbers(end < 0 ? cells : cells.slice(0, end));
}

function bytesOf(cell: Cell | undefined): Buffer {
  if (!(cell instanceof Uint8Array))
    throw new HistoryDamaged("a row holds something else than bytes");
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}

/** As `bytesAt`; no bytes are stored as NULL. */
function bytesOrNone(cells: readonly Cell[], at: number): Buffer {
  return cells[at] === null ? Buffer.alloc(0) : bytesOf(cells[at]);
}

function bytesAt(cells: readonly Cell[], at: number): Buffer {
  return bytesOf(cells[at]);
}
