/** The declaration of `perpgate export`. */

import { CANDLE_PRICES, RESOLUTIONS } from "@perpgate/protocol/core";
import type { Command } from "commander";
import { addCommand, exitWith } from "../cli/command.js";
import { instant, oneOf, symbol, wholeNumber } from "../cli/values.js";
import { DEFAULT_URL } from "../trader/venue-command.js";

const KINDS = ["trades", "candles", "funding", "fills", "orders", "ledger"] as const;

export function addExportCommand(program: Command): void {
  addCommand(program, "export", {
    summary: "trades, candles, funding, own fills, orders and ledger as CSV, NDJSON or Parquet",
    usage: [
      "<trades|candles|funding> [--from T] [--to T] [--symbol S] [--format F] [--out FILE]",
      "<fills|orders|ledger> [--from T] [--to T] [--symbol S] [--format F] [--out FILE]",
      "ledger --layout koinly --out FILE",
      "<kind> --data DIR [--account N] …",
    ],
    about: `Writes rows of the past, oldest first: public data and the account that is logged in from a
gateway, or with --data everything of a data folder, also while its venue runs. from ≤ time < to. It
reads page by page and holds little in memory, however much there is. Without --out the rows go to
standard output. A file gets its name when it is complete, and none is overwritten. With --layout koinly
the ledger has the columns that tax tools read: date, signed amount, currency, label.`,
    examples: [
      ["export candles --price mark --resolution 1h --out mark.csv", "of the mark"],
      ["export fills --from 2026-01-01 --to 2027-01-01 --out fills.csv", "a year of your own"],
      ["export trades --data .data --format parquet --out trades.parquet", "an operator's"],
    ],
  })
    .argument("<kind>", KINDS.join(", "), oneOf("kind", KINDS))
    .option(
      "--from <T>",
      "the first time: 2026-11-18, 2026-11-18T09:30Z, Unix ms",
      instant("--from"),
    )
    .option("--to <T>", "the time after the last", instant("--to"))
    .option("--symbol <S>", "of one market (all)", symbol)
    .option(
      "--resolution <R>",
      `of candles: ${RESOLUTIONS.join(", ")} (1m)`,
      oneOf("--resolution", RESOLUTIONS),
    )
    .option(
      "--price <P>",
      `of candles: ${CANDLE_PRICES.join(", ")} (trades)`,
      oneOf("--price", CANDLE_PRICES),
    )
    .option(
      "--format <F>",
      "csv, ndjson, parquet (csv)",
      oneOf("--format", ["csv", "ndjson", "parquet"]),
    )
    .option("--layout <L>", "of the ledger as csv: koinly", oneOf("--layout", ["koinly"]))
    .option("--out <FILE>", "must not exist (standard output)")
    .option("--data <DIR>", "read this data folder instead of a gateway")
    .option("--account <N>", "with --data: one account (all)", wholeNumber("--account"))
    .option("--url <URL>", `the gateway, or several with commas (${DEFAULT_URL})  [PERPGATE_URL]`)
    .option("--profile <NAME>", "whose session (default)  [PERPGATE_PROFILE]")
    .action(
      exitWith(async (kind, options) => (await import("./export.js")).exportData(kind, options)),
    );
}
