/** The commands that change orders: `buy`, `sell`, `amend`, `cancel`. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import { amount, durationOption, exitPrices, oneOf, symbol, wholeNumber } from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addOrderCommands(program: Command): void {
  addOrder(program, "buy");
  addOrder(program, "sell");
  addAmend(program);
  addCancel(program);
}

function addOrder(program: Command, name: "buy" | "sell"): void {
  const [verb, side, other] =
    name === "buy" ? (["Buys", "long", "short"] as const) : (["Sells", "short", "long"] as const);
  const [stopSide, takeSide] = name === "buy" ? ["above", "below"] : ["below", "above"];
  const [stop, limit, take] = name === "buy" ? [70000, 70100, 60000] : [60000, 59900, 70000];
  const [takeProfit, stopLoss] = name === "buy" ? [70000, 60000] : [60000, 70000];
  venueCommand(program, name, {
    summary: `${name}, or close a ${other}: market, limit or stop`,
    usage: [
      "<symbol> <margin> [--leverage N] [--price P | --stop P | --take P] [options]",
      "<symbol> --size S [--leverage N] [--price P | --stop P | --take P] [options]",
    ],
    about: `${verb} for margin × leverage dollars, or exactly --size: at the market, at a limit with --price,
or when the mark price reaches --stop (${stopSide}) or --take (${takeSide}), then at the market, or at
--limit. --tp and --sl attach orders that close what this one has opened, at the market or at LIMIT;
the first to fill cancels the other. The response is durable: it names the filled size, its price and
fee, the position after it, and the block that will contain it. perpgate close closes a whole position. Exit code 1 also if nothing was filled and nothing rests or waits.`,
    examples: [
      [`${name} BTCUSD 100 --leverage 5`, "for 500 dollars, at the market"],
      [`${name} BTCUSD 100 --price 65000 --post-only`, "rests in the book"],
      [
        `${name} BTCUSD --size 0.01 --price 65000 --tif ioc`,
        "fill what the book has now, cancel the rest",
      ],
      [
        `${name} BTCUSD --size 0.01 --tp ${takeProfit} --sl ${stopLoss}`,
        "closed again at either price",
      ],
      [
        `${name} BTCUSD --size 0.01 --stop ${stop} --limit ${limit}`,
        "a stop-limit order: waits, then rests at its limit",
      ],
      [`${name} BTCUSD --size 0.01 --take ${take}`, `${name}s once the mark is ${takeSide} that`],
      [`${name} BTCUSD --size 0.01 --reduce-only`, `closes up to 0.01 of a ${other} position`],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .argument("[margin]", "dollars; with --size a maximum", amount("margin"))
    .option("--size <S>", "units of base, a whole number of lots", amount("--size"))
    .option("--leverage <N>", "margin × leverage is traded (1)", wholeNumber("--leverage"))
    .option("--price <P>", "a limit order at this price", amount("--price"))
    .option("--stop <P>", "a stop order: waits until the mark reaches this price", amount("--stop"))
    .option(
      "--take <P>",
      "a take-profit order: the same from the other side of the mark",
      amount("--take"),
    )
    .option(
      "--limit <P>",
      "with --stop or --take: then a limit order at this price",
      amount("--limit"),
    )
    .option(
      "--worst-price <P>",
      "a market order that trades at this price or better only",
      amount("--worst-price"),
    )
    .option(
      "--tif <T>",
      "gtc rests, ioc fills what it can now, fok all or nothing",
      oneOf("--tif", ["gtc", "ioc", "fok"]),
    )
    .option(
      "--expires-in <TIME>",
      "cancel the rest after this time, such as 8h or 7d",
      durationOption("--expires-in"),
    )
    .option("--client-id <ID>", "your own id: 1 to 36 letters, digits, _ or -")
    .option(
      "--tp <P[:LIMIT]>",
      "take-profit: close at this price what the order has opened",
      exitPrices("--tp"),
    )
    .option(
      "--sl <P[:LIMIT]>",
      "stop-loss: close at this price what the order has opened",
      exitPrices("--sl"),
    )
    .option("--reduce-only", "only reduce a position; margin × leverage is then a maximum")
    .option("--post-only", "with --price: rest in the book, or be refused if it would trade")
    .option("--nonce <N>", "repeat an order whose response was lost", wholeNumber("--nonce"))
    .option("--receipt <FILE>", "save the signed receipt, for perpgate judge")
    .action(
      exitWith(async (market, margin, options) =>
        (await import("./order.js")).placeOrderCommand(side, market, margin, options),
      ),
    );
}

function addAmend(program: Command): void {
  venueCommand(program, "amend", {
    summary: "change an open order, which keeps its id",
    usage: [
      "<order id | client id> [--price P] [--size S] [--limit P] [--expires-in TIME | --no-expiry]",
    ],
    about: `Changes the price, the size (the new total, filled part included), the limit of a stop or the
expiry of an open order. It keeps its place in the queue if the price stays and the size does not
grow.`,
    examples: [
      ["amend 48213 --price 64900", "another price, the same size"],
      ["amend bid-1 --size 0.005", "the order that you named bid-1"],
    ],
  })
    .argument("<order>", "an order's id, or your own")
    .option("--price <P>", "the new limit or trigger price", amount("--price"))
    .option("--size <S>", "the new total size", amount("--size"))
    .option("--limit <P>", "of a stop: the new limit price", amount("--limit"))
    .option("--expires-in <TIME>", "from now, such as 8h or 7d", durationOption("--expires-in"))
    .option("--no-expiry", "remove the expiry")
    .option("--nonce <N>", "repeat an amendment whose response was lost", wholeNumber("--nonce"))
    .action(
      exitWith(async (order, options) => (await import("./amend.js")).amendCommand(order, options)),
    );
}

function addCancel(program: Command): void {
  venueCommand(program, "cancel", {
    summary: "cancel an order, or all",
    usage: ["<order id | client id…>", "--all [--symbol SYMBOL]"],
    about: "Cancels orders. What was filled before stays filled.",
    examples: [
      ["cancel 48213", "the order with this id"],
      ["cancel bid-1", "the open order that you named bid-1"],
      ["cancel --all --symbol BTCUSD", "all of one market"],
    ],
  })
    .argument("[ids...]", "order ids")
    .option("--all", "every open order")
    .option("--symbol <SYMBOL>", "with --all: of this market only", symbol)
    .action(
      exitWith(async (ids, options) => (await import("./cancel.js")).cancelCommand(ids, options)),
    );
}
