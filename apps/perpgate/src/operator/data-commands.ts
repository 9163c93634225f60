/** The commands that read, check, copy and prune a data folder, and their options. */

import type { Command } from "commander";
import { addCommand, addSubcommand, exitWith } from "../cli/command.js";
import {
  logPlace,
  REQUIRE_HELP,
  repeated,
  WITNESS_HELP,
  wholeNumber,
  wholeNumberWithin,
} from "../cli/values.js";
import { DATA_HELP } from "./data-option.js";

export function addDataFolderCommands(program: Command): void {
  addCommand(program, "verify", {
    summary: "replay a data folder and check everything in it",
    usage: [
      "[--data DIR] [--signatures] [--key VKEY] [--checkpoint FILE]… [--witness VKEY]… [options]",
    ],
    about: `Replays the log of a data folder and compares every record, block, checkpoint, snapshot and
row of history with it; with --signatures every order, sign-in and vote too; with --key the signature
of the last checkpoint of the transparency log, which must exist, and all keys that it certified.
Anyone who can write to the folder can remove what is in it: only a --checkpoint that you kept shows that
the log is the one it was. With --witness each of these must have the cosignatures of all these witnesses,
or of --require of them. It changes nothing and may run while the venue does. Exit code 1 at the
first difference, and if anything shows that the log has lost its end.`,
    examples: [
      ["verify --data .data --signatures", "with every signature"],
      ["verify --data .data --key venue.example/log+c01c9b6b+AYqI…", "with a pinned key"],
      ["verify --data .data --checkpoint old.proof", "with a checkpoint that you kept"],
    ],
  })
    .option("--data <DIR>", DATA_HELP)
    .option("--signatures", "check every signature too")
    .option("--key <VKEY>", "the verifier key of the venue's log that you pinned")
    .option(
      "--checkpoint <FILE>",
      "a checkpoint or proof that you kept; may be repeated",
      repeated,
      [],
    )
    .option("--witness <VKEY>", WITNESS_HELP, repeated, [])
    .option("--require <N>", REQUIRE_HELP, wholeNumber("--require"))
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./verify.js")).verifyFolder(options)));
  addStoreCommands(program);
  addCommand(program, "succeed", {
    summary: "announce a new log key that the old one signs",
    usage: ["<NEW.key> [--data DIR] [--key OLD.key] [--json]"],
    about: `Announces that a new log key succeeds the present one, in a note that both sign: clients who
pinned the old key follow it, and the new one stays bound by every promise of the old. Make the new
key with perpgate keygen log. Stop the venue first. The note is added to log-successors.json of the
data folder, and log.key there is replaced (the old one becomes log.key.<id>). With receipts.logKey
name the old file with --key, set receipts.logKey to the new one, and copy log-successors.json into
the data folder of every other gateway before it starts.`,
    examples: [
      ["succeed new.key --data .data", "log.key of the folder is replaced"],
      ["succeed new.key --data .data --key old.key", "with receipts.logKey"],
    ],
  })
    .argument("<file>", "the new key, as perpgate keygen log makes it")
    .option("--data <DIR>", DATA_HELP)
    .option("--key <FILE>", "the present log key, if it is not log.key of the data folder")
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (file, options) =>
        (await import("./succeed.js")).succeedLogKey(file, options),
      ),
    );
  addCommand(program, "backup", {
    summary: "copy a data folder, also while its venue runs, once or all the time",
    usage: ["--to DIR [--data DIR] [--json]", "--follow DIR [--data DIR] [--json]"],
    about: `Copies a data folder, also while its venue runs, and verifies the copy. Exit code 0 only if
everything in it agrees. With --follow it then adds what the log gains, each second, until a signal; a
second call goes on with the same copy. The venue does not wait for it.`,
    examples: [
      ["backup --data .data --to /backup/today", "copy and verify"],
      ["backup --data .data --follow /backup/live", "and keep it up to date"],
    ],
  })
    .option("--to <DIR>", "the target folder; missing or empty")
    .option("--follow <DIR>", "the target folder; missing, empty, or of an earlier --follow")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./backup.js")).backup(options)));
  addCommand(program, "archive", {
    summary: "keep an archive in PostgreSQL up to date with a data folder",
    usage: ["--postgres URL | --config FILE [--data DIR] [--once] [--commands N] [--json]"],
    about: `Writes the tables of the history into a PostgreSQL database, as the log of a data folder goes on,
until a signal; makes them first if they are not there. It may be ended, or killed, at any moment: rows and
the position in the log are one transaction. The venue does not wait for it. One process writes an archive;
another waits until that ends. The database is --postgres or
archive.postgres of the configuration; give a password in PGPASSWORD or ~/.pgpass, not in the URL.`,
    examples: [
      ["archive --postgres 'postgresql:///perpgate?host=/run/postgresql'", "through the socket"],
      ["archive --once --postgres postgresql://db.example/perpgate", "up to the log's end now"],
    ],
  })
    .option("--postgres <URL>", "the database")
    .option("--config <FILE>", "JSON configuration file with archive.postgres")
    .option("--data <DIR>", DATA_HELP)
    .option("--once", "end with the log, instead of following it")
    .option(
      "--commands <N>",
      "commands of a transaction, about (10000)",
      wholeNumberWithin("--commands", 1, 1_000_000),
    )
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("../archive/archive.js")).archive(options)));
  addCommand(program, "publish", {
    summary: "public data as files, a folder for each day that is over",
    usage: ["--to DIR [--data DIR] [--json]"],
    about: `Writes trades, candles of a minute of trades, mark and index, and funding rates of a data folder as
gzipped CSV, by market and UTC day, with an index of every day and one of all days. Only days that are over
and that the folder does not have are made; what is there never changes. Call it once a day; the venue may
run. With server.data a gateway serves the folder under /data, as any other web server may.`,
    examples: [["publish --data .data --to /srv/public", "what is new since the last call"]],
  })
    .requiredOption("--to <DIR>", "the folder of the files")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("../export/publish.js")).publish(options)));
  addCommand(program, "restore", {
    summary: "make a data folder from a backup, up to a position or a time",
    usage: ["--from DIR [--to POSITION|TIME] [--data DIR] [--json]"],
    about: `Copies a backup into a data folder that is missing or empty, with the log up to a position or a
time, both included, and verifies it. The log is cut where a batch ends, at that place or before. It
names the position that it came to. Exit code 0 only if everything in the folder agrees.`,
    examples: [
      ["restore --from /backup/live --data .data", "all that the backup has"],
      ["restore --from /backup/live --to 2026-11-18T09:30Z --data .data", "as it was then"],
    ],
  })
    .requiredOption("--from <DIR>", "the backup")
    .option(
      "--to <POSITION|TIME>",
      "the last position, or 2026-11-18T09:30Z (all)",
      logPlace("--to"),
    )
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./restore.js")).restoreFolder(options)));
  addCommand(program, "prune", {
    summary: "remove the oldest segments of a log, which can then no longer be verified",
    usage: ["[--data DIR] [--backup DIR] [--keep-snapshots N] [--dry-run] [--json]"],
    about: `Removes the segments of the log that no restart needs: those wholly before the oldest of the
newest N snapshots that are intact and that the history has reached. It may run while the venue
does. What is removed can no longer be verified by anyone, and a history cannot be rebuilt from
what is left: back the folder up first, and name the copy with --backup, which must have every segment
byte for byte. Fails if a restart, or the archive that is fed from here, could not go on afterwards.`,
    examples: [
      ["prune --data .data --dry-run", "what could be removed"],
      ["prune --data .data --backup /backup/now", "remove it, if the copy has it"],
    ],
  })
    .option("--data <DIR>", DATA_HELP)
    .option(
      "--keep-snapshots <N>",
      "snapshots that a restart must be able to begin from (2)",
      wholeNumberWithin("--keep-snapshots", 1, 1_000),
    )
    .option("--backup <DIR>", "a copy of the folder that must have what is removed")
    .option("--dry-run", "print what would be removed, and remove nothing")
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./prune.js")).prune(options)));
}

function addStoreCommands(program: Command): void {
  const store = addCommand(program, "store", {
    summary: "the history of a data folder, and whether it is what the log makes",
    usage: ["status [--hashes] [--data DIR] [--json]", "verify [--data DIR] [--json]"],
    about: `Reads the history of a data folder, also while its venue runs, and changes nothing.

  status  the rows of every table, and how far the history is behind the log; with --hashes also
          a hash of each: folders of one log at the same position have equal ones
  verify  replays the log and compares all rows, and their number, table by table; goes on after
          a difference; exit code 1 if a table differs`,
    examples: [
      ["store status", "tables and their rows"],
      ["store verify --json", "for a program"],
    ],
  });
  addSubcommand(store, "status", "count the rows of every table")
    .option("--hashes", "hash the rows of every table, too")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./store.js")).storeStatusCommand(options)));
  addSubcommand(store, "verify", "compare every table with a replay of the log")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./store.js")).verifyTables(options)));
}
