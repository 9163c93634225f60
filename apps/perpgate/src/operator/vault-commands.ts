/** The commands of the vault contract and their options. */

import type { Command } from "commander";
import { addCommand, addSubcommand, exitWith } from "../cli/command.js";
import { durationOption, oneOf, repeated, wholeNumber } from "../cli/values.js";

const RPC_HELP = "an endpoint of the chain, http or https";
const KEY_HELP = "a wallet's key that pays the gas, as perpgate keygen wallet makes it";
const VAULT_HELP = "the address of the vault";
const OUT_HELP = "the file to write; must not exist";

const PREPARED_NAMES = ["unlock", "attestors", "guardians", "caps", "invalidate"] as const;

export function addVaultCommands(program: Command): void {
  const vault = addCommand(program, "vault", {
    summary: "deploy, read and administer a vault contract",
    usage: ["<deploy|status|request|pay|lock|prepare|sign|submit|finalize> [options]"],
    about: `The contract that holds the tokens of a venue on a chain (docs/vault.md).

  deploy    create a vault from a file, and check its code
  status    everything that a vault says about itself; exit code 1 if its code is not a vault's
  request   start the payment of a withdrawal with its attestors' signatures; anyone may
  pay       pay it after its dispute period; anyone may
  lock      stop requests and payments, with a guardian's key
  prepare   write the data of an administration to a file
  sign      sign such a file with a cold key, offline
  submit    send the signed data, which starts the dispute period; invalidate acts immediately
  finalize  apply it after the dispute period`,
    examples: [
      [
        "vault deploy --rpc https://rpc.example --key-file gas.key --setup vault.json",
        "a new vault",
      ],
      ["vault status --rpc https://rpc.example --vault 0x5aAe…", "its money, keys and caps"],
      ["vault sign unlock.json --key-file cold.key --out signed.json", "needs no network"],
    ],
  });
  addSubcommand(vault, "deploy", "create a vault from a file, and check its code")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--key-file <FILE>", KEY_HELP)
    .requiredOption("--setup <FILE>", "venue, keys, quorums, periods and tokens (docs/vault.md)")
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./vault.js")).deploy(options)));
  addSubcommand(vault, "status", "everything that a vault says about itself")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--vault <ADDRESS>", VAULT_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./vault.js")).vaultStatusCommand(options)));
  addSubcommand(vault, "request", "start the payment of a withdrawal; anyone may")
    .argument("<file>", "what perpgate withdrawals --id ID --json printed")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--vault <ADDRESS>", VAULT_HELP)
    .requiredOption("--key-file <FILE>", KEY_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (file, options) => (await import("./vault.js")).requestCommand(file, options)),
    );
  addSubcommand(vault, "pay", "pay a withdrawal after its dispute period; anyone may")
    .argument("<id>", "of the withdrawal")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--vault <ADDRESS>", VAULT_HELP)
    .requiredOption("--key-file <FILE>", KEY_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (id, options) => (await import("./vault.js")).pay(id, options)));
  addSubcommand(vault, "lock", "stop requests and payments until the cold keys unlock")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--vault <ADDRESS>", VAULT_HELP)
    .requiredOption("--key-file <FILE>", "a guardian's key")
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./vault.js")).lock(options)));
  addSubcommand(vault, "prepare", "write the data of an administration to a file")
    .argument("<action>", PREPARED_NAMES.join(", "), oneOf("action", PREPARED_NAMES))
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--vault <ADDRESS>", VAULT_HELP)
    .requiredOption("--out <FILE>", OUT_HELP)
    .option("--member <ADDRESS>", "of attestors and guardians: each; repeated", repeated, [])
    .option("--quorum <N>", "of attestors", wholeNumber("--quorum"))
    .option("--token <ADDRESS>", "of caps")
    .option("--hour-floor <UNITS>", "of caps, in the token's smallest units")
    .option("--day-floor <UNITS>", "of caps, in the token's smallest units")
    .option("--id <ID>", "of invalidate: each withdrawal; repeated", repeated, [])
    .option(
      "--expires-in <D>",
      "how long it can be used (24h; at most 7d)",
      durationOption("--expires-in"),
    )
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (action, options) =>
        (await import("./vault.js")).prepareCommand(action, options),
      ),
    );
  addSubcommand(vault, "sign", "sign prepared data with a cold key; needs no network")
    .argument("<file>", "as vault prepare, or another vault sign, wrote it")
    .requiredOption("--key-file <FILE>", "the cold key")
    .requiredOption("--out <FILE>", OUT_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (file, options) => (await import("./vault.js")).sign(file, options)));
  addSubcommand(
    vault,
    "submit",
    "send signed data, which starts the dispute period; invalidate acts immediately",
  )
    .argument("<files...>", "files of the same data; their signatures are joined")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--key-file <FILE>", KEY_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (files, options) => (await import("./vault.js")).submit(files, options)),
    );
  addSubcommand(vault, "finalize", "apply submitted data after the dispute period")
    .argument("<file>", "the data that was submitted")
    .requiredOption("--rpc <URL>", RPC_HELP)
    .requiredOption("--key-file <FILE>", KEY_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (file, options) => (await import("./vault.js")).finalize(file, options)),
    );
}
