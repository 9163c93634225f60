/**
 * The layouts of recordings, told apart by their columns (docs/recordings.md). Each turns a row into
 * events. Columns are those that the publishers document.
 */

import { type RecordedEvent, RecordingError } from "./events.js";
import type { Rows } from "./rows.js";

/** Reads the cells of one row; `symbol` where the rows do not name theirs. */
type Convert = (cells: Cells) => readonly RecordedEvent[];

interface Layout {
  readonly name: string;
  /** All of them must be there. */
  readonly columns: readonly string[];
  convert(fileSymbol: string): Convert;
}

/** Beyond it a double has no single units: microseconds until the year 2255 are below. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;
/** Characters of a value, in a problem. */
const MAX_SHOWN = 120;

/** A row with its columns by name; every problem names the file and the place. */
export class Cells {
  private place = 0;
  private cells: readonly unknown[] = [];
  private readonly at: ReadonlyMap<string, number>;

  constructor(
    private readonly file: string,
    columns: readonly string[],
  ) {
    this.at = new Map(columns.map((column, at) => [column, at]));
  }

  take(place: number, cells: readonly unknown[]): void {
    this.place = place;
    this.cells = cells;
  }

  has(column: string): boolean {
    return this.at.has(column) && this.value(column) !== undefined && this.value(column) !== "";
  }

  value(column: string): unknown {
    return this.cells[this.at.get(column) ?? -1];
  }

  text(column: string): string {
    const value = this.value(column);
    if (typeof value === "string" && value !== "") return value;
    throw this.problem(`${column} is a text, not ${JSON.stringify(value)}`);
  }

  /** A number of at least 0. */
  number(column: string): number {
    const value = this.value(column);
    const number = numberOf(value);
    if (number >= 0 && number <= MAX_NUMBER) return number;
    const bound = number > MAX_NUMBER ? `at most ${MAX_NUMBER}` : "at least 0";
    throw this.problem(`${column} is a number of ${bound}, not ${shown(value)}`);
  }

  price(column: string): number {
    const price = this.number(column);
    if (price > 0) return price;
    throw this.problem(`${column} is a price above 0, not ${shown(this.value(column))}`);
  }

  flag(column: string): boolean {
    const value = this.value(column);
    if (typeof value === "boolean") return value;
    if (/^(true|1)$/i.test(String(value))) return true;
    if (/^(false|0)$/i.test(String(value))) return false;
    throw this.problem(`${column} is true or false, not ${shown(value)}`);
  }

  /** One of the words of each side. */
  side(column: string, long: readonly string[], short: readonly string[]): 1 | -1 {
    const text = String(this.value(column)).toLowerCase();
    if (long.includes(text)) return 1;
    if (short.includes(text)) return -1;
    throw this.problem(
      `${column} is ${[...long, ...short].join(" or ")}, not ${shown(this.value(column))}`,
    );
  }

  problem(what: string): RecordingError {
    return new RecordingError(`${this.file}:${this.place}: ${what}`);
  }
}

function shown(value: unknown): string {
  return value === undefined || value === "" ? "nothing" : String(value).slice(0, MAX_SHOWN);
}

/** What `Number` makes of null, true, blanks and lists is no number of a recording. */
function numberOf(value: unknown): number {
  const isNumber =
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof Date ||
    (typeof value === "string" && value.trim() !== "");
  return isNumber ? Number(value) : Number.NaN;
}

/** Levels come one by one; a run of them that is marked as a snapshot replaces the book. */
function levels(
  level: Extract<RecordedEvent, { kind: "level" }>,
  isSnapshot: boolean,
  seen: { wasSnapshot: boolean; timeMs: number },
): readonly RecordedEvent[] {
  const begins = isSnapshot && !(seen.wasSnapshot && seen.timeMs === level.timeMs);
  seen.wasSnapshot = isSnapshot;
  seen.timeMs = level.timeMs;
  const { timeMs, symbol } = level;
  return begins ? [{ kind: "cleared", timeMs, symbol }, level] : [level];
}

type LevelColumns = readonly [price: string, size: string, side: 1 | -1];

/** A row that has the whole book; where there is no price there is no level. */
function bookOf(
  row: Cells,
  at: { readonly timeMs: number; readonly symbol: string },
  columns: readonly LevelColumns[],
): readonly RecordedEvent[] {
  const found = columns
    .filter(([price]) => row.has(price))
    .map(
      ([price, size, side]) =>
        ({ kind: "level", ...at, side, price: row.price(price), size: row.number(size) }) as const,
    );
  return [{ kind: "cleared", ...at }, ...found];
}

const TARDIS_LEVELS = 25;
const BUY = ["buy", "long"];
const SELL = ["sell", "short"];

const OWN: readonly Layout[] = [
  {
    name: "own books",
    columns: ["time_ms", "symbol", "side", "price", "size"],
    convert: () => {
      const seen = { wasSnapshot: false, timeMs: 0 };
      return (row) => {
        const side = row.side("side", ["bid"], ["ask"]);
        const timeMs = row.number("time_ms");
        const size = row.number("size");
        const isSnapshot = row.has("snapshot") && row.flag("snapshot");
        const at = { timeMs, symbol: row.text("symbol") };
        return levels(
          { kind: "level", ...at, side, price: row.price("price"), size },
          isSnapshot,
          seen,
        );
      };
    },
  },
  {
    name: "own trades",
    columns: ["time_ms", "symbol", "price", "size", "taker_side"],
    convert: () => (row) => [
      {
        kind: "trade",
        timeMs: row.number("time_ms"),
        symbol: row.text("symbol"),
        side: row.side("taker_side", BUY, SELL),
        price: row.price("price"),
        size: row.number("size"),
      },
    ],
  },
  {
    name: "own index prices",
    columns: ["time_ms", "symbol", "index"],
    convert: () => (row) => [
      {
        kind: "index",
        timeMs: row.number("time_ms"),
        symbol: row.text("symbol"),
        price: row.price("index"),
      },
    ],
  },
];

/**
 * https://docs.tardis.dev/downloadable-csv-files/data-types: times in microseconds. Rows are in the order
 * in which they arrived, which is that of `local_timestamp`; exchanges send their own times out of order.
 */
function arrivalOf(row: Cells): number {
  return row.number("local_timestamp") / 1_000;
}

const TARDIS: readonly Layout[] = [
  {
    name: "Tardis incremental_book_L2",
    columns: ["exchange", "symbol", "local_timestamp", "is_snapshot", "side", "price", "amount"],
    convert: () => {
      const seen = { wasSnapshot: false, timeMs: 0 };
      return (row) => {
        const at = { timeMs: arrivalOf(row), symbol: row.text("symbol") };
        const side = row.side("side", ["bid"], ["ask"]);
        const size = row.number("amount");
        const level = { kind: "level", ...at, side, price: row.price("price"), size } as const;
        return levels(level, row.flag("is_snapshot"), seen);
      };
    },
  },
  {
    name: "Tardis quotes",
    columns: [
      "exchange",
      "symbol",
      "local_timestamp",
      "ask_amount",
      "ask_price",
      "bid_price",
      "bid_amount",
    ],
    convert: () => (row) =>
      bookOf(row, { timeMs: arrivalOf(row), symbol: row.text("symbol") }, [
        ["bid_price", "bid_amount", 1],
        ["ask_price", "ask_amount", -1],
      ]),
  },
  {
    name: "Tardis book_snapshot_5, book_snapshot_25",
    columns: ["exchange", "symbol", "local_timestamp", "asks[0].price", "bids[0].price"],
    convert: () => {
      const columns = Array.from({ length: TARDIS_LEVELS }, (_, at): LevelColumns[] => [
        [`bids[${at}].price`, `bids[${at}].amount`, 1],
        [`asks[${at}].price`, `asks[${at}].amount`, -1],
      ]).flat();
      return (row) => {
        const at = { timeMs: arrivalOf(row), symbol: row.text("symbol") };
        return bookOf(row, at, columns);
      };
    },
  },
  {
    name: "Tardis trades",
    columns: ["exchange", "symbol", "local_timestamp", "id", "side", "price", "amount"],
    convert: () => (row) => {
      // Some exchanges do not say who took.
      if (row.value("side") === "unknown") return [];
      return [
        {
          kind: "trade",
          timeMs: arrivalOf(row),
          symbol: row.text("symbol"),
          side: row.side("side", BUY, SELL),
          price: row.price("price"),
          size: row.number("amount"),
        },
      ];
    },
  },
  {
    name: "Tardis derivative_ticker",
    columns: ["exchange", "symbol", "local_timestamp", "index_price", "mark_price"],
    convert: () => (row) => {
      if (!row.has("index_price")) return [];
      const timeMs = arrivalOf(row);
      return [
        { kind: "index", timeMs, symbol: row.text("symbol"), price: row.price("index_price") },
      ];
    },
  },
];

/** https://github.com/binance/binance-public-data: the symbol is in the name of the file. */
const BINANCE: readonly Layout[] = [
  {
    name: "Binance aggTrades",
    columns: ["agg_trade_id", "price", "quantity", "transact_time", "is_buyer_maker"],
    convert: (symbol) => (row) => [
      {
        kind: "trade",
        timeMs: millisecondsOf(row.number("transact_time")),
        symbol,
        side: row.flag("is_buyer_maker") ? -1 : 1,
        price: row.price("price"),
        size: row.number("quantity"),
      },
    ],
  },
  {
    name: "Binance trades",
    columns: ["id", "price", "qty", "time", "is_buyer_maker"],
    convert: (symbol) => (row) => [
      {
        kind: "trade",
        timeMs: millisecondsOf(row.number("time")),
        symbol,
        side: row.flag("is_buyer_maker") ? -1 : 1,
        price: row.price("price"),
        size: row.number("qty"),
      },
    ],
  },
  {
    name: "Binance bookTicker",
    columns: [
      "best_bid_price",
      "best_bid_qty",
      "best_ask_price",
      "best_ask_qty",
      "transaction_time",
    ],
    convert: (symbol) => (row) =>
      bookOf(row, { timeMs: millisecondsOf(row.number("transaction_time")), symbol }, [
        ["best_bid_price", "best_bid_qty", 1],
        ["best_ask_price", "best_ask_qty", -1],
      ]),
  },
  {
    name: "Binance klines of the index price",
    columns: ["open_time", "open", "high", "low", "close", "close_time"],
    convert: (symbol) => (row) => [
      {
        kind: "index",
        timeMs: millisecondsOf(row.number("open_time")),
        symbol,
        price: row.price("open"),
      },
    ],
  },
];

/** https://hyperliquid.gitbook.io/hyperliquid-docs/historical-data, unpacked by lz4. */
const HYPERLIQUID: readonly Layout[] = [
  {
    name: "Hyperliquid l2Book",
    columns: ["time", "raw"],
    convert: () => (row) => {
      const { coin, time, levels: sides } = bookIn(row);
      const at = { timeMs: time, symbol: coin };
      return [
        { kind: "cleared", ...at },
        ...sides.flatMap((side, index) =>
          side.map(
            ({ px, sz }) =>
              ({
                kind: "level",
                ...at,
                side: index === 0 ? 1 : -1,
                price: Number(px),
                size: Number(sz),
              }) as const,
          ),
        ),
      ];
    },
  },
  {
    name: "Hyperliquid trades",
    columns: ["coin", "side", "px", "sz", "time"],
    convert: () => (row) => [
      {
        kind: "trade",
        timeMs: timeOf(row, "time"),
        symbol: row.text("coin"),
        side: row.side("side", ["b"], ["a"]),
        price: row.price("px"),
        size: row.number("sz"),
      },
    ],
  },
  {
    name: "Hyperliquid asset_ctxs",
    columns: ["time", "coin", "oracle_px", "mark_px"],
    convert: () => (row) => {
      if (!row.has("oracle_px")) return [];
      const at = { timeMs: timeOf(row, "time"), symbol: row.text("coin") };
      return [{ kind: "index", ...at, price: row.price("oracle_px") }];
    },
  },
];

const LAYOUTS: readonly Layout[] = [...TARDIS, ...BINANCE, ...HYPERLIQUID, ...OWN];

/** Files of Binance that have no header, by their name. */
const HEADERLESS: readonly (readonly [name: RegExp, columns: readonly string[]])[] = [
  [
    /-aggTrades-/,
    [
      "agg_trade_id",
      "price",
      "quantity",
      "first_trade_id",
      "last_trade_id",
      "transact_time",
      "is_buyer_maker",
    ],
  ],
  [/-trades-/, ["id", "price", "qty", "quote_qty", "time", "is_buyer_maker"]],
  [/-\d+(?:s|m|h|d|w|mo)-/, ["open_time", "open", "high", "low", "close", "volume", "close_time"]],
];

/** @throws RecordingError if no layout has these columns. */
export function layoutOf({ name, columns }: Rows): { layout: Layout; columns: readonly string[] } {
  const known = columns ?? HEADERLESS.find(([pattern]) => pattern.test(name))?.[1];
  if (known === undefined) throw new RecordingError(`${name}:1: the columns have no names`);
  const layout = LAYOUTS.find((one) => one.columns.every((column) => known.includes(column)));
  if (layout !== undefined) return { layout, columns: known };
  throw new RecordingError(`${name}:1: no layout has the columns ${shown(known.join(", "))}`);
}

/** Some files count microseconds since 2025. */
function millisecondsOf(time: number): number {
  return time > 1e14 ? time / 1_000 : time;
}

/** Milliseconds, or a text of ISO 8601 in UTC. */
function timeOf(row: Cells, column: string): number {
  const value = row.value(column);
  if (typeof value !== "string" || /^\d+$/.test(value)) return row.number(column);
  const text = /[Z+]/.test(value) ? value : `${value}Z`;
  const time = Date.parse(text.replace(/(\.\d{3})\d+/, "$1"));
  if (!Number.isNaN(time)) return time;
  throw row.problem(`${column} is a time, not ${value}`);
}

interface HyperliquidBook {
  readonly coin: string;
  readonly time: number;
  readonly levels: readonly (readonly { readonly px: string; readonly sz: string }[])[];
}

function bookIn(row: Cells): HyperliquidBook {
  const raw = row.value("raw");
  if (typeof raw === "object" && raw !== null && "data" in raw && isBook(raw.data)) return raw.data;
  throw row.problem("raw.data is a book with coin, time and levels");
}

function isBook(value: unknown): value is HyperliquidBook {
  return (
    typeof value === "object" &&
    value !== null &&
    "coin" in value &&
    typeof value.coin === "string" &&
    "time" in value &&
    typeof value.time === "number" &&
    "levels" in value &&
    Array.isArray(value.levels) &&
    value.levels.length === 2 &&
    value.levels.every(
      (side) =>
        Array.isArray(side) &&
        side.every(
          (level) =>
            Number(level?.px) > 0 &&
            Number(level?.px) <= MAX_NUMBER &&
            Number(level?.sz) >= 0 &&
            Number(level?.sz) <= MAX_NUMBER,
        ),
    )
  );
}
