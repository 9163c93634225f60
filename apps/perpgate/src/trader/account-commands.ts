/** The commands that show an account: `orders`, `positions`, `fills`, `account`, `ledger`; and `deposit`. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import { oneOf, symbol, wholeNumber } from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addAccountReads(program: Command): void {
  venueCommand(program, "orders", {
    summary: "your open orders",
    usage: ["[--nonce N] [--json]", "--all [--nonce N] [--limit N] [--before ID] [--json]"],
    about: `Your orders that rest in a book or wait for their trigger. With --all the ended ones too, newest
first; --before continues from the last one shown.`,
    examples: [["orders --all --nonce 41", "the state of an order whose response was lost"]],
  })
    .option("--all", "also filled and canceled ones")
    .option("--nonce <N>", "only the one with this nonce", wholeNumber("--nonce"))
    .option(
      "--limit <N>",
      "with --all: how many at most, up to 1000 (1000)",
      wholeNumber("--limit"),
    )
    .option("--before <ID>", "with --all: only orders older than this one")
    .action(exitWith(async (options) => (await import("./account-reads.js")).orders(options)));
  venueCommand(program, "positions", {
    summary: "your positions",
    usage: ["[--json]"],
    about: `Your positions, one per market: entry price, mark price, liquidation price, margin and profit or
loss.`,
    examples: [["positions", "your positions"]],
  }).action(exitWith(async (options) => (await import("./account-reads.js")).positions(options)));
  venueCommand(program, "fills", {
    summary: "your fills",
    usage: ["[--limit N] [--before ID] [--json]", "--order <order id | client id> [--json]"],
    about: `Your fills, newest first; --before continues from the last one shown. With --order all fills of one
order, oldest first.`,
    examples: [
      ["fills --limit 1000 --json", "for a spreadsheet"],
      ["fills --order 48213", "those of one order"],
    ],
  })
    .option("--limit <N>", "how many at most, up to 1000 (20)", wholeNumber("--limit"))
    .option("--before <ID>", "only fills older than this one")
    .option("--order <ID>", "all fills of this order, by its id or your own")
    .action(exitWith(async (options) => (await import("./account-reads.js")).fills(options)));
  venueCommand(program, "account", {
    summary: "your balance and your session",
    usage: ["[--json]"],
    about: "Your balance, the part of it that is free, and the limits and expiry of this session.",
    examples: [["account", "your balance and your session"]],
  }).action(exitWith(async (options) => (await import("./account-reads.js")).account(options)));
}

export function addLedger(program: Command): void {
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

export function addWithdrawals(program: Command): void {
  venueCommand(program, "withdrawals", {
    summary: "your withdrawals",
    usage: ["[--limit N] [--before ID] [--json]", "--id ID [--json]"],
    about: `Your withdrawals with their status, newest first: queued, attested, pending, paid or expired.
With --id one of them with the attestors' votes, whose signatures the vault takes.`,
    examples: [["withdrawals --id 48213 --json", "with the signatures"]],
  })
    .option("--limit <N>", "how many at most, up to 1000 (1000)", wholeNumber("--limit"))
    .option("--before <ID>", "only withdrawals older than this one")
    .option("--id <ID>", "this one, with its votes")
    .action(exitWith(async (options) => (await import("./withdrawals.js")).withdrawals(options)));
}

export function addDeposit(program: Command): void {
  venueCommand(program, "deposit", {
    summary: "get test money, or register a transaction",
    usage: [
      "",
      "--chain CHAIN --tx HASH [--token USDC] [--no-wait]",
      "--list [--limit N] [--before ID]",
    ],
    about: `On a testnet with the dev attestor: credits test money and waits for it. With real chains:
registers the transaction that sent tokens to the vault and shows its confirmations until it is
credited; without --tx it shows where to send them.`,
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
    .option("--list", "list your deposits, newest first")
    .option(
      "--limit <N>",
      "with --list: how many at most, up to 1000 (1000)",
      wholeNumber("--limit"),
    )
    .option("--before <ID>", "with --list: only deposits older than this one")
    .action(exitWith(async (options) => (await import("./deposit.js")).deposit(options)));
}
