/** The commands of sessions and of what they own: `login`, `logout`, `sessions`, `deposit`, `withdraw`. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import { amount, durationOption, oneOf, symbol, wholeNumber } from "../cli/values.js";
import { MAX_PAGE, pageOptions } from "./rows-command.js";
import { venueCommand } from "./venue-command.js";

export function addLogin(program: Command): void {
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
      ["login --profile bot --max-notional 5000", "a second account, capped at 5,000 dollars"],
    ],
  })
    .option("--key-file <FILE>", "the wallet's key; perpgate keygen makes one")
    .option("--session-key-file <FILE>", "a session key of your own (Ed25519)")
    .option(
      "--expires-in <TIME>",
      "such as 30m, 8h or 7d (default 24h, at most what the venue allows: 30d)",
      durationOption("--expires-in"),
    )
    .option(
      "--max-order-notional <USD>",
      "maximum that one order may open",
      amount("--max-order-notional"),
    )
    .option(
      "--max-notional <USD>",
      "maximum of all open positions together",
      amount("--max-notional"),
    )
    .option("--symbols <A,B>", "the only markets it may trade", (text: string) =>
      text.split(",").map((part) => symbol(part.trim())),
    )
    .option("--domain <NAME>", "the domain to sign in to (the gateway's host)")
    .action(exitWith(async (options) => (await import("./login.js")).login(options)));
}

export function addLogout(program: Command): void {
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

export function addSessions(program: Command): void {
  venueCommand(program, "sessions", {
    summary: "your sessions; end those that you do not know",
    usage: ["[--json]", "--end <id…>", "--end-others"],
    about: `Every live session of your account with its key, its limits and its expiry. Ending another session
is signed with this session's key and leaves the resting orders of the ended one.`,
    examples: [
      ["sessions", "who is signed in"],
      ["sessions --end-others", "only this one stays"],
    ],
  })
    .option("--end <ids...>", "end these")
    .option("--end-others", "end all but this one")
    .action(exitWith(async (options) => (await import("./sessions.js")).sessionsCommand(options)));
}

const CHAINS = ["ethereum", "arbitrum", "tron"] as const;

export function addWithdraw(program: Command): void {
  venueCommand(program, "withdraw", {
    summary: "have money paid to your own address",
    usage: ["<dollars> [--chain CHAIN] [--token USDC]"],
    about: `Takes dollars and the fee out of the wallet and has them paid in a token to the address of the
account on a chain. Attestors sign it, and the vault of the chain pays after its dispute period.`,
    examples: [["withdraw 100 --chain arbitrum", "100 dollars in USDC"]],
  })
    .argument("<dollars>", "how much", amount("dollars"))
    .option("--chain <CHAIN>", "ethereum, arbitrum (ethereum)", oneOf("--chain", CHAINS))
    .option("--token <TOKEN>", "USDC, USDT (USDC)", oneOf("--token", ["USDC", "USDT"]))
    .option("--nonce <N>", "repeat a withdrawal whose response was lost", wholeNumber("--nonce"))
    .action(
      exitWith(async (dollars, options) =>
        (await import("./withdraw.js")).withdrawCommand(dollars, options),
      ),
    );
}

export function addDeposit(program: Command): void {
  const command = venueCommand(program, "deposit", {
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
    .option("--chain <CHAIN>", "ethereum, arbitrum, tron (ethereum)", oneOf("--chain", CHAINS))
    .option("--tx <HASH>", "the hash of the transaction")
    .option("--token <TOKEN>", "USDC, USDT (USDC)", oneOf("--token", ["USDC", "USDT"]))
    .option("--no-wait", "register and exit")
    .option("--list", "list your deposits, newest first");
  pageOptions(command, "deposits", MAX_PAGE, "--list").action(
    exitWith(async (options) => (await import("./deposit.js")).deposit(options)),
  );
}
