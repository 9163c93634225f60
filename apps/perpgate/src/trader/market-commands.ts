/** The commands that need no session: `markets`, `ticker`, `trades`, `candles`, `funding`, `book`, `watch`. */

import { CANDLE_PRICES, RESOLUTIONS } from "@perpgate/protocol/core";
import type {
  Candle,
  CandlePrice,
  FundingPoint,
  Market,
  Resolution,
  Ticker,
  Trade,
} from "@perpgate/sdk";
import type { Command } from "commander";
import { type CommandText, exitWith } from "../cli/command.js";
import { decimalsOf, fixed, percent, time } from "../cli/quantities.js";
import { signTone } from "../cli/style.js";
import { type Column, left, right } from "../cli/table.js";
import { oneOf, symbol, wholeNumber, wholeNumberWithin } from "../cli/values.js";
import type { VenueAccess } from "./connection.js";
import { formatOf, marketFormats, sideCell } from "./market-format.js";
import { marketRows } from "./rows-command.js";
import { type VenueCommandOptions, venueCommand } from "./venue-command.js";

const DEFAULT_LIMIT = 20;

export function addMarketReads(program: Command): void {
  const withVenue = async (
    options: VenueCommandOptions,
    run: (venue: VenueAccess) => Promise<number>,
  ) => (await import("./connection.js")).withVenue(options, run);
  venueCommand(program, "markets", {
    summary: "every market with its prices and rules",
    usage: ["[--json]"],
    about: `Every market: its prices, tick and lot size, maximum leverage, maker and taker fees, the
funding rate per hour and the time of the next funding.`,
    examples: [["markets --json", "all fields, tiers included"]],
  }).action(exitWith((options: VenueCommandOptions) => withVenue(options, showMarkets)));
  venueCommand(program, "ticker", {
    summary: "the prices of a market, or of all",
    usage: ["[symbol] [--json]"],
    about: `Best bid and ask, last, mark and index price, funding rate, open interest and the last 24 hours.`,
    examples: [["ticker BTCUSD", "of one market"]],
  })
    .argument("[symbol]", "the market (all)", symbol)
    .action(
      exitWith((market: string | undefined, options: VenueCommandOptions) =>
        withVenue(options, (venue) => showTickers(venue, market)),
      ),
    );
  addLists(program);
  venueCommand(program, "book", {
    summary: "an order book, live",
    usage: ["<symbol> [--depth N] [--once] [--json]"],
    about: `The order book of a market, live until Ctrl-C: price, size and cumulative size of each level. If the
output is not a terminal, a plain ladder is printed at most once a second; with --json a line of
JSON.`,
    examples: [
      ["book BTCUSD", "live, until Ctrl-C"],
      ["book BTCUSD --once --depth 5 --json", "a snapshot for a program"],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .option(
      "--depth <N>",
      "levels per side, up to 1000 (10)",
      wholeNumberWithin("--depth", 1, 1_000),
    )
    .option("--once", "print it once and exit")
    .action(exitWith(async (market, options) => (await import("./book.js")).book(market, options)));
  venueCommand(program, "watch", {
    summary: "any streams, one line per frame",
    usage: ["<stream…> [--count N] [--depth N] [--json]"],
    about: `Prints every frame of the streams as a line, until Ctrl-C. It reconnects after a lost connection,
and your own streams resume without a gap.

  book.SYMBOL  trades.SYMBOL  ticker.SYMBOL  candles.SYMBOL.1m (5m 15m 1h 4h 1d)  blocks  status
  orders  positions  fills  account  preconfirms  deposits    your own: log in first`,
    examples: [
      ["watch trades.BTCUSD blocks", "every trade and every block"],
      ["watch orders positions --json", "your account, for a program"],
    ],
  })
    .argument("<streams...>", "names of streams")
    .option("--count <N>", "exit after this many frames", wholeNumber("--count"))
    .option("--depth <N>", "levels per side of a book in JSON (10)", wholeNumber("--depth"))
    .action(exitWith(async (names, options) => (await import("./watch.js")).watch(names, options)));
}

async function showMarkets({ client, output }: VenueAccess): Promise<number> {
  output.rows(MARKETS, await client.markets(), "no markets");
  return 0;
}

const MARKETS: readonly Column<Market>[] = [
  left("symbol", (market) => ({ text: market.symbol, tone: "strong" })),
  right("mark", (market) => formatOf(market).price(market.markPrice)),
  right("index", (market) => formatOf(market).price(market.indexPrice)),
  right("funding/h", ({ fundingRate }) => percent(fundingRate)),
  left("next (UTC)", ({ nextFundingAt }) => time(nextFundingAt).slice(-8)),
  right("leverage", ({ maxLeverage }) => `${maxLeverage}x`),
  right("tick", ({ tickSize }) => fixed(tickSize, decimalsOf(tickSize))),
  right("lot", ({ lotSize }) => fixed(lotSize, decimalsOf(lotSize))),
  right("maker", ({ makerFee }) => percent(makerFee, 3)),
  right("taker", ({ takerFee }) => percent(takerFee, 3)),
  left("status", ({ status }) => ({ text: status, tone: status === "active" ? "plain" : "bad" })),
];

async function showTickers({ client, output }: VenueAccess, market: string | undefined) {
  const [rows, format] = await Promise.all([
    market === undefined ? client.tickers() : client.ticker(market).then((one) => [one]),
    marketFormats(client),
  ]);
  const price = (field: "bid" | "ask" | "last" | "mark" | "index") =>
    right(field, (row: Ticker) => format(row.symbol).price(row[field]));
  const columns = [
    left("symbol", (row: Ticker) => ({ text: row.symbol, tone: "strong" })),
    ...(["bid", "ask", "last", "mark", "index"] as const).map(price),
    right("24 h", ({ change24h }: Ticker) => ({
      text: percent(change24h, 2),
      tone: signTone(change24h ?? 0),
    })),
    right("volume 24 h", (row: Ticker) => format(row.symbol).size(row.volume24h)),
    right("open interest", (row: Ticker) => format(row.symbol).size(row.openInterest)),
    right("funding/h", ({ fundingRate }: Ticker) => percent(fundingRate)),
    left("next (UTC)", ({ nextFundingAt }: Ticker) => time(nextFundingAt).slice(-8)),
  ];
  if (output.isJson && market !== undefined) output.json(rows[0]);
  else output.rows(columns, rows, "no markets");
  return 0;
}

interface ListOptions extends VenueCommandOptions {
  readonly limit?: number;
}

interface CandlesOptions extends ListOptions {
  readonly resolution?: Resolution;
  readonly price?: CandlePrice;
}

function addLists(program: Command): void {
  const trades = listCommand(program, "trades", {
    summary: "the latest trades of a market",
    about: "The latest trades, newest first; the side is the taker's.",
    examples: [["trades BTCUSD --limit 5", "the last five"]],
  });
  marketRows<Trade, ListOptions>(trades, {
    read: ({ client }, market, { limit = DEFAULT_LIMIT }) => client.trades(market, { limit }),
    columns: (format, market) => [
      left("time (UTC)", (trade) => time(trade.time)),
      left("side", sideCell),
      right("price", ({ price }) => format(market).price(price)),
      right("size", ({ size }) => format(market).size(size)),
      left("id", ({ id }) => id),
    ],
    none: () => "no trades",
  });
  const candles = listCommand(program, "candles", {
    summary: "open, high, low and close of a market",
    about:
      "Candles, newest first: open, high, low, close, volume and number of trades. Those of the mark and the index have no volume.",
    examples: [
      ["candles BTCUSD --resolution 1h --limit 24", "the last day, by hours"],
      ["candles BTCUSD --price mark", "of the price that stops and liquidations go by"],
    ],
  })
    .option(
      "--resolution <R>",
      `${RESOLUTIONS.join(", ")} (1m)`,
      oneOf("--resolution", RESOLUTIONS),
    )
    .option("--price <P>", `${CANDLE_PRICES.join(", ")} (trades)`, oneOf("--price", CANDLE_PRICES));
  marketRows<Candle, CandlesOptions>(candles, {
    read: ({ client }, market, { resolution, price, limit = DEFAULT_LIMIT }) =>
      client.candles(market, { resolution, price, limit }),
    columns: (format, market, { price: of = "trades" }) => [
      left("time (UTC)", (candle) => time(candle.time)),
      ...(["open", "high", "low", "close"] as const).map((field) =>
        right(field, (candle: Candle) => format(market).price(candle[field])),
      ),
      ...(of === "trades"
        ? [
            right("volume", ({ volume }: Candle) => format(market).size(volume)),
            right("trades", (candle: Candle) => String(candle.trades)),
          ]
        : []),
    ],
    none: () => "no candles",
  });
  const funding = listCommand(program, "funding", {
    summary: "past funding of a market",
    about:
      "Past funding, newest first: the rate of the hour and the mark price that it was paid at.",
    examples: [["funding BTCUSD --limit 24", "the last day"]],
  });
  marketRows<FundingPoint, ListOptions>(funding, {
    read: ({ client }, market, { limit = DEFAULT_LIMIT }) => client.funding(market, { limit }),
    columns: (format, market) => [
      left("time (UTC)", (point) => time(point.time)),
      right("rate/h", ({ rate }) => percent(rate)),
      right("mark", ({ markPrice }) => format(market).price(markPrice)),
    ],
    none: () => "no funding",
  });
}

function listCommand(program: Command, name: string, text: Omit<CommandText, "usage">): Command {
  return venueCommand(program, name, { ...text, usage: ["<symbol> [--limit N] [--json]"] })
    .argument("<symbol>", "the market", symbol)
    .option(
      "--limit <N>",
      "how many at most, up to 1000 (20)",
      wholeNumberWithin("--limit", 1, 1_000),
    );
}
