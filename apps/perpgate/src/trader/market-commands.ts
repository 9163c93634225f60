/** The commands that need no session: `markets`, `ticker`, `trades`, `candles`, `funding`, `book`, `watch`. */

import { CANDLE_PRICES, RESOLUTIONS } from "@perpgate/protocol/core";
import type { Command } from "commander";
import { type CommandText, exitWith } from "../cli/command.js";
import { oneOf, symbol, wholeNumber, wholeNumberWithin } from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addMarketReads(program: Command): void {
  venueCommand(program, "markets", {
    summary: "every market with its prices and rules",
    usage: ["[--json]"],
    about: `Every market: its prices, tick and lot size, maximum leverage, maker and taker fees, the
funding rate per hour and the time of the next funding.`,
    examples: [["markets --json", "all fields, tiers included"]],
  }).action(exitWith(async (options) => (await import("./markets.js")).markets(options)));
  addPrices(program);
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

/** What a market is and was worth, read once. */
function addPrices(program: Command): void {
  venueCommand(program, "ticker", {
    summary: "the prices of a market, or of all",
    usage: ["[symbol] [--json]"],
    about: `Best bid and ask, last, mark and index price, funding rate, open interest and the last 24 hours.`,
    examples: [["ticker BTCUSD", "of one market"]],
  })
    .argument("[symbol]", "the market (all)", symbol)
    .action(
      exitWith(async (market, options) => (await import("./prices.js")).ticker(market, options)),
    );
  listCommand(program, "trades", {
    summary: "the latest trades of a market",
    about: "The latest trades, newest first; the side is the taker's.",
    examples: [["trades BTCUSD --limit 5", "the last five"]],
  }).action(
    exitWith(async (market, options) => (await import("./prices.js")).trades(market, options)),
  );
  listCommand(program, "candles", {
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
    .option("--price <P>", `${CANDLE_PRICES.join(", ")} (trades)`, oneOf("--price", CANDLE_PRICES))
    .action(
      exitWith(async (market, options) => (await import("./prices.js")).candles(market, options)),
    );
  listCommand(program, "funding", {
    summary: "past funding of a market",
    about:
      "Past funding, newest first: the rate of the hour and the mark price that it was paid at.",
    examples: [["funding BTCUSD --limit 24", "the last day"]],
  }).action(
    exitWith(async (market, options) => (await import("./prices.js")).funding(market, options)),
  );
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
