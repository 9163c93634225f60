/** The trader's commands and their options. They reach a venue through the SDK alone. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import {
  amount,
  durationMs,
  oneOf,
  symbol,
  wholeNumber,
  wholeNumberWithin,
} from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addTraderCommands(program: Command): void {
  program.commandsGroup("Trade:");
  addLogin(program);
  addLogout(program);
  addOrder(program, "buy");
  addOrder(program, "sell");
  addAmend(program);
  addCancel(program);
  addMargin(program);
  addAccountReads(program);
  addLedger(program);
  addSessions(program);
  addDeposit(program);
  program.commandsGroup("Look:");
  addMarketReads(program);
}

function addLogin(program: Command): void {
  venueCommand(program, "login", {
    summary: "sign in with a wallet key, or with a new one for the testnet",
    usage: ["[--key-file FILE] [--profile NAME] [options]"],
    about: `Signs in with a wallet's key: that of --key-file, else of the variable PERPGATE_WALLET_KEY,
else the one the profile had before, else a new one, good for a testnet. The session and its
own key, which signs the orders, are kept in $XDG_CONFIG_HOME/perpgate (~/.config/perpgate),
readable by you alone.`,
    examples: [
      ["login", "with a new testnet wallet, or the one used before"],
      ["login --key-file ~/wallet.key", "with your own key"],
      ["login --profile bot --max-notional 5000", "a second account, of limited means"],
    ],
  })
    .option("--key-file <FILE>", "the wallet's key; perpgate keygen makes one")
    .option("--session-key-file <FILE>", "a session key of your own (Ed25519)")
    .option(
      "--expires-in <TIME>",
      "such as 90s, 30m or 8h (24h, at most)",
      durationMs("--expires-in"),
    )
    .option("--max-order-notional <USD>", "what one order may open", amount("--max-order-notional"))
    .option("--max-notional <USD>", "what all may hold open together", amount("--max-notional"))
    .option("--symbols <A,B>", "the only markets it may trade", (text: string) =>
      text.split(",").map((part) => symbol(part.trim())),
    )
    .option("--domain <NAME>", "the domain to sign in to (the gateway's host)")
    .action(exitWith(async (options) => (await import("./login.js")).login(options)));
}

function addLogout(program: Command): void {
  venueCommand(program, "logout", {
    summary: "end the session",
    usage: ["[--cancel-all] [--profile NAME]"],
    about: `Ends the session at the venue and forgets it here. Resting orders stay, unless
--cancel-all is given. The wallet's key stays too: the next login is the same account.`,
    examples: [["logout --cancel-all", "leave nothing in the books"]],
  })
    .option("--cancel-all", "cancel all open orders first")
    .action(exitWith(async (options) => (await import("./login.js")).logout(options)));
}

function addOrder(program: Command, name: "buy" | "sell"): void {
  const [verb, side, other] =
    name === "buy" ? (["Buys", "long", "short"] as const) : (["Sells", "short", "long"] as const);
  venueCommand(program, name, {
    summary: `${name}, or close a ${other}: market, limit or stop`,
    usage: [
      "<symbol> <margin> [--leverage N] [--price P | --stop P] [options]",
      "<symbol> --size S [--leverage N] [--price P | --stop P] [options]",
    ],
    about: `${verb} for margin × leverage dollars, or exactly --size: at the market, or at a limit with
--price, or when the mark reaches --stop. With --tp or --sl the position is closed there. The answer is durable and says what was filled, at which price and fee,
the position after it, and the block that will hold it. Exit code 1 also if nothing was filled
and nothing waits.`,
    examples: [
      [`${name} BTCUSD 100 --leverage 5`, "for 500 dollars, at the market"],
      [`${name} BTCUSD 100 --price 65000 --post-only`, "rests in the book"],
      [`${name} BTCUSD --size 0.01 --price 65000 --tif ioc`, "what is there now, and no more"],
      [`${name} BTCUSD --size 0.01 --sl ${name === "buy" ? 60000 : 70000}`, "with a stop-loss"],
      [`${name} BTCUSD 100000 --reduce-only`, `closes a ${other} position, whatever its size`],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .argument("[margin]", "dollars; with --size the most that it may take", amount("margin"))
    .option("--size <S>", "units of base, a whole number of lots", amount("--size"))
    .option("--leverage <N>", "margin × leverage is traded (1)", wholeNumber("--leverage"))
    .option("--price <P>", "a limit order at this price", amount("--price"))
    .option("--stop <P>", "a stop order: waits until the mark reaches this price", amount("--stop"))
    .option(
      "--worst-price <P>",
      "a market order that trades at this price or better",
      amount("--worst-price"),
    )
    .option(
      "--tif <T>",
      "gtc rests, ioc takes what is there, fok all or nothing",
      oneOf("--tif", ["gtc", "ioc", "fok"]),
    )
    .option(
      "--expires-in <TIME>",
      "cancels what is left then, such as 8h",
      durationMs("--expires-in"),
    )
    .option("--client-id <ID>", "your own id: 1 to 36 letters, digits, _ or -")
    .option("--tp <P>", "takes the profit of the whole position at this price", amount("--tp"))
    .option("--sl <P>", "stops the loss of the whole position at this price", amount("--sl"))
    .option("--reduce-only", "only closes; margin × leverage is then a ceiling")
    .option("--post-only", "with --price: rests, or is refused if it would trade")
    .option("--nonce <N>", "repeats an order whose answer was lost", wholeNumber("--nonce"))
    .action(
      exitWith(async (market, margin, options) =>
        (await import("./order.js")).placeOrder(side, market, margin, options),
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
    .option("--expires-in <TIME>", "from now, such as 8h", durationMs("--expires-in"))
    .option("--no-expiry", "it never expires")
    .option("--nonce <N>", "repeats an amendment whose answer was lost", wholeNumber("--nonce"))
    .action(exitWith(async (order, options) => (await import("./amend.js")).amend(order, options)));
}

function addMargin(program: Command): void {
  venueCommand(program, "margin", {
    summary: "add margin to a position, or take some back",
    usage: ["<symbol> <add|remove> <dollars>"],
    about: `Moves money between the wallet and the margin of a position, which moves its liquidation price.
What the position needs cannot be removed; the refusal names the most that can.`,
    examples: [
      ["margin BTCUSD add 50", "50 dollars from the wallet"],
      ["margin BTCUSD remove 20", "back to the wallet"],
    ],
  })
    .argument("<symbol>", "the market", symbol)
    .argument("<direction>", "add or remove", oneOf("direction", ["add", "remove"]))
    .argument("<dollars>", "how much", amount("dollars"))
    .option("--nonce <N>", "repeats a change whose answer was lost", wholeNumber("--nonce"))
    .action(
      exitWith(async (market, direction, dollars, options) =>
        (await import("./amend.js")).changeMargin(market, direction, dollars, options),
      ),
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
    .action(exitWith(async (ids, options) => (await import("./cancel.js")).cancel(ids, options)));
}

function addAccountReads(program: Command): void {
  venueCommand(program, "orders", {
    summary: "your open orders",
    usage: ["[--all] [--nonce N] [--json]"],
    about:
      "Your orders that rest in a book or wait for their trigger; with --all the ended ones too.",
    examples: [["orders --all --nonce 41", "what became of an order whose answer was lost"]],
  })
    .option("--all", "also filled and canceled ones")
    .option("--nonce <N>", "only the one with this nonce", wholeNumber("--nonce"))
    .action(exitWith(async (options) => (await import("./account-reads.js")).orders(options)));
  venueCommand(program, "positions", {
    summary: "your positions",
    usage: ["[--json]"],
    about: `Your positions, one per market: entry, mark, the price at which it would be liquidated, margin,
and what it has earned.`,
    examples: [["positions", "your positions"]],
  }).action(exitWith(async (options) => (await import("./account-reads.js")).positions(options)));
  venueCommand(program, "fills", {
    summary: "your fills",
    usage: ["[--limit N] [--before ID] [--json]"],
    about: "Your fills, newest first; --before continues from the last one shown.",
    examples: [["fills --limit 1000 --json", "for a spreadsheet"]],
  })
    .option("--limit <N>", "how many at most, up to 1000 (20)", wholeNumber("--limit"))
    .option("--before <ID>", "only fills older than this one")
    .action(exitWith(async (options) => (await import("./account-reads.js")).fills(options)));
  venueCommand(program, "account", {
    summary: "your money and your session",
    usage: ["[--json]"],
    about: "Your money, how much of it is free, what this session may do and when it ends.",
    examples: [["account", "your money and your session"]],
  }).action(exitWith(async (options) => (await import("./account-reads.js")).account(options)));
}

function addLedger(program: Command): void {
  venueCommand(program, "ledger", {
    summary: "every change of your balance",
    usage: ["[--symbol S] [--limit N] [--before ID] [--json]"],
    about: `Every change of your balance with its kind and the balance after it, newest first: deposits,
fees, profit and loss, funding, liquidations. --before continues from the last one shown.`,
    examples: [["ledger --limit 1000 --json", "for a spreadsheet"]],
  })
    .option("--symbol <SYMBOL>", "of this market only", symbol)
    .option("--limit <N>", "how many at most, up to 1000 (20)", wholeNumber("--limit"))
    .option("--before <ID>", "only entries older than this one")
    .action(exitWith(async (options) => (await import("./ledger.js")).ledger(options)));
}

function addSessions(program: Command): void {
  venueCommand(program, "sessions", {
    summary: "your sessions; end those that you do not know",
    usage: ["[--json]", "--end <id…>", "--end-others"],
    about: `Every session of your account that is alive, with its key, its limits and its end. Ending a
session needs this one's key, and leaves its resting orders.`,
    examples: [
      ["sessions", "who is signed in"],
      ["sessions --end-others", "only this one stays"],
    ],
  })
    .option("--end <ids...>", "end these")
    .option("--end-others", "end all but this one")
    .action(exitWith(async (options) => (await import("./ledger.js")).sessions(options)));
}

function addDeposit(program: Command): void {
  venueCommand(program, "deposit", {
    summary: "get test money, or register a transaction",
    usage: ["", "--chain CHAIN --tx HASH [--token USDC] [--no-wait]", "--list"],
    about: `On a testnet with the dev attestor: gives test money and waits until it is credited. With
real chains: registers the transaction that sent tokens to the vault, and shows how it is
confirmed and credited; without --tx it shows where to send them.`,
    examples: [
      ["deposit", "test money, on a testnet"],
      ["deposit --chain arbitrum --tx 0x9f…", "register a transfer and wait"],
    ],
  })
    .option(
      "--chain <CHAIN>",
      "ethereum, arbitrum, tron (ethereum)",
      oneOf("--chain", ["ethereum", "arbitrum", "tron"]),
    )
    .option("--tx <HASH>", "the hash of the transaction")
    .option("--token <TOKEN>", "USDC, USDT (USDC)", oneOf("--token", ["USDC", "USDT"]))
    .option("--no-wait", "register and exit")
    .option("--list", "your deposits so far")
    .action(exitWith(async (options) => (await import("./deposit.js")).deposit(options)));
}

function addMarketReads(program: Command): void {
  venueCommand(program, "markets", {
    summary: "every market with its prices and rules",
    usage: ["[--json]"],
    about: `Every market: its prices, the steps of price and size, the highest leverage, the fees of
maker and taker, the funding per hour and when it is due.`,
    examples: [["markets --json", "all fields, tiers included"]],
  }).action(exitWith(async (options) => (await import("./markets.js")).markets(options)));
  venueCommand(program, "book", {
    summary: "an order book, live",
    usage: ["<symbol> [--depth N] [--once] [--json]"],
    about: `The order book of a market, live until Ctrl-C: prices, sizes, their sum, and a bar of it. If the
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
    about: `Prints every frame of the streams as a line, until Ctrl-C. Lost connections are made again, and
your own streams miss no frame.

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
