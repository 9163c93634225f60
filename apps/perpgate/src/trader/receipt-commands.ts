/** The trader's commands that belong to receipts, proofs and the judge. */

import type { Command } from "commander";
import { addCommand, exitWith } from "../cli/command.js";
import { REQUIRE_HELP, repeated, WITNESS_HELP, wholeNumber } from "../cli/values.js";
import { venueCommand } from "./venue-command.js";

export function addReceiptCommands(program: Command): void {
  venueCommand(program, "proof", {
    summary: "the proof that an order is sealed, as a file that is checked offline",
    usage: ["<ACKNONCE> > order.proof"],
    about: `Prints the proof of an own acknowledgement: its leaf, its block, and the block's place in the
venue's transparency log, under the latest checkpoint. Waits some seconds for a checkpoint.`,
    examples: [["proof 48213", "write it to a file: perpgate check needs no network"]],
  })
    .argument("<ackNonce>", "the acknowledgement's number", wholeNumber("ackNonce"))
    .action(
      exitWith(async (ackNonce, options) =>
        (await import("./receipts.js")).printProof(ackNonce, options),
      ),
    );
  venueCommand(program, "reserves", {
    summary: "what the venue owes and its vaults hold, and whether you are counted",
    usage: ["[--key VKEY] [--witness VKEY]… [--require N] [--save FILE] [--json]"],
    about: `What the venue has committed to owe, what attestors have seen in its vaults, and whether your balance
is among what it owes: the path from your leaf to the commitment, and from the commitment to a checkpoint of
the log. With --key the log key must be the one that you pinned. With --save a file keeps what was proven,
which perpgate check reads without any network. Exit code 1 if you are not counted.`,
    examples: [
      ["reserves --key venue.example/log+c01c9b6b+AYqI…", "with a pinned key"],
      ["reserves --save mine.reserves", "keep it: it binds the venue"],
    ],
  })
    .option("--key <VKEY>", "the verifier key of the venue's log that you pinned")
    .option("--witness <VKEY>", WITNESS_HELP, repeated, [])
    .option("--require <N>", REQUIRE_HELP, wholeNumber("--require"))
    .option("--save <FILE>", "where to write the leaf of the account and the proof")
    .action(
      exitWith(async (options) =>
        (await import("./connection.js")).withSession(options, async (venue) =>
          (await import("./reserves.js")).showReserves(venue, options),
        ),
      ),
    );
  addCommand(program, "check", {
    summary: "check the proof of an order or of reserves, or evidence of a broken promise, offline",
    usage: ["<FILE> [--key VKEY] [--witness VKEY]… [--require N] [--receipt FILE] [--address 0x…]"],
    about: `Checks without any network. A proof: the log's signature, the block under the checkpoint, the
acknowledgement in the block. Reserves, as perpgate reserves --save writes them: also the path from the
account's leaf to the sum that the venue owes; with --address it must be that account's. Evidence: that it proves its verdict. With --key the log key must be the one
that you pinned; without it nothing is proven, only consistent. With --witness a checkpoint counts only
with the cosignatures of all these witnesses, or of --require of them; other signatures are named as
not checked. With --receipt the acknowledgement must be the one that the receipt is about. Exit code 1 if
anything is wrong.`,
    examples: [
      ["check order.proof --key venue.example/log+c01c9b6b+AYqI…", "with a pinned key"],
      ["check order.proof --witness witness.example/w1+…", "and the key of a witness"],
      ["check mine.reserves --key venue.example/log+c01c9b6b+AYqI…", "what the venue owed you"],
      ["check broken.json --key venue.example/log+c01c9b6b+AYqI…", "evidence that judge wrote"],
    ],
  })
    .argument("<file>", "the proof or evidence")
    .option("--key <VKEY>", "the verifier key of the venue's log")
    .option("--witness <VKEY>", WITNESS_HELP, repeated, [])
    .option("--require <N>", REQUIRE_HELP, wholeNumber("--require"))
    .option("--receipt <FILE>", "the receipt of the same acknowledgement")
    .option("--address <ADDRESS>", "the account whose leaf it must be")
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (file, options) => (await import("./receipts.js")).check(file, options)),
    );
  venueCommand(program, "judge", {
    summary: "judge receipts by what their venue publishes",
    usage: [
      "<RECEIPT>… [--key VKEY] [--witness VKEY]… [--require N] [--proof FILE]… [--evidence FILE]",
    ],
    about: `Judges each receipt: kept, pending (no checkpoint covers it yet), overdue (not for a minute),
withheld (the venue does not serve what it has signed), differs (the answer is not what was signed), or
broken: absent, elsewhere, different, forked, misdated, or twice (two of the receipts are for one nonce).
With --witness a checkpoint counts only with the cosignatures of all these witnesses, or of --require of
them. For a broken one --evidence writes a file that proves it to others (FILE for the first,
FILE-2 for the second, and so on, before the file's ending); see docs/receipts.md. Exit code 1 unless all are kept or pending.`,
    examples: [
      ["judge order.receipt", "by the venue of your profile"],
      ["judge order.receipt --proof old.proof --evidence broken.json", "and an older checkpoint"],
    ],
  })
    .argument("<files...>", "receipts, as perpgate buy --receipt saves them")
    .option("--key <VKEY>", "the verifier key of the venue's log that you pinned")
    .option("--witness <VKEY>", WITNESS_HELP, repeated, [])
    .option("--require <N>", REQUIRE_HELP, wholeNumber("--require"))
    .option("--proof <FILE>", "a proof or checkpoint that you kept; may be repeated", repeated, [])
    .option("--evidence <FILE>", "where to write the evidence of a broken promise")
    .action(
      exitWith(async (files, options) =>
        (await import("./receipts.js")).judgeCommand(files, options),
      ),
    );
}
