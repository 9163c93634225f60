/** The commands that change a position: `close`, `protect`, `margin`. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import { amount, oneOf, part, symbol, wholeNumber } from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addPositionCommands(program: Command): void {
  addClose(program);
  addProtect(program);
  addMargin(program);
}

function addClose(program: Command): void {
  venueCommand(program, "close", {
    summary: "close a position, whatever its size",
    usage: ["<symbol> [--part 50%] [--price P | --worst-price P]"],
    about: `Closes the whole position of a market, or a part of it, at the market or at a limit; it never opens
one. Orders that protect the position end with it. Exit code 1 also if the book did not take all of it.`,
    examples: [
      ["close BTCUSD", "all of it, at the market"],
      ["close BTCUSD --part 50%", "half of it"],
      ["close BTCUSD --price 66000", "all of it, at this price or better"],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .option("--part <P>", "how much of it, such as 50% or 0.5 (all)", part("--part"))
    .option("--price <P>", "a limit order at this price", amount("--price"))
    .option(
      "--worst-price <P>",
      "at the market, at this price or better only",
      amount("--worst-price"),
    )
    .option("--receipt <FILE>", "save the signed receipt, for perpgate judge")
    .action(
      exitWith(async (market, options) => (await import("./close.js")).close(market, options)),
    );
}

function addProtect(program: Command): void {
  venueCommand(program, "protect", {
    summary: "close a position at a gain or at a loss, automatically",
    usage: ["<symbol> [--tp P | --no-tp] [--sl P | --no-sl]"],
    about: `Sets the take-profit and the stop-loss of a position: the whole position is closed, whatever its
size is then, when the mark price reaches one of them, and the other one ends. Prices that were set
before are replaced. A price on the wrong side of the mark is refused, and nothing is sent.`,
    examples: [
      ["protect BTCUSD --tp 70000 --sl 62000", "a long position: both prices"],
      ["protect BTCUSD --sl 64000", "another stop-loss; the take-profit stays"],
      ["protect BTCUSD --no-tp", "no take-profit any more"],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .option("--tp <P>", "take-profit: close at this price", amount("--tp"))
    .option("--no-tp", "remove the take-profit")
    .option("--sl <P>", "stop-loss: close at this price", amount("--sl"))
    .option("--no-sl", "remove the stop-loss")
    .action(
      exitWith(async (market, options) => (await import("./protect.js")).protect(market, options)),
    );
}

function addMargin(program: Command): void {
  venueCommand(program, "margin", {
    summary: "add margin to a position, or take some back",
    usage: ["<symbol> <add|remove> <dollars>"],
    about: `Moves money between the wallet and the margin of a position, which moves its liquidation price.
The margin that the position requires cannot be removed; the error names the largest amount that can.`,
    examples: [
      ["margin BTCUSD add 50", "50 dollars from the wallet"],
      ["margin BTCUSD remove 20", "back to the wallet"],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .argument("<direction>", "add or remove", oneOf("direction", ["add", "remove"]))
    .argument("<dollars>", "how much", amount("dollars"))
    .option("--nonce <N>", "repeat a change whose response was lost", wholeNumber("--nonce"))
    .action(
      exitWith(async (market, direction, dollars, options) =>
        (await import("./amend.js")).changeMarginCommand(market, direction, dollars, options),
      ),
    );
}
