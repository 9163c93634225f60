/** Commands that read rows and print them, as a table or as JSON. Their connection is loaded when they are called. */

import type { Command } from "commander";
import { exitWith } from "../cli/command.js";
import type { Column } from "../cli/table.js";
import { wholeNumber } from "../cli/values.js";
import type { TradingVenue, VenueAccess } from "./connection.js";
import { type FormatOf, marketFormats } from "./market-format.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface RowsOf<From extends VenueAccess, Row, Args extends unknown[]> {
  /** @throws UsageError, before the venue is asked. */
  check?(...args: Args): void;
  read(venue: From, ...args: Args): Promise<readonly Row[]>;
  /** A function where prices and sizes are shown with the decimals of their market. */
  readonly columns: readonly Column<Row>[] | ((formatOf: FormatOf, ...args: Args) => Column<Row>[]);
  /** What is printed if there are no rows. */
  none(...args: Args): string;
}

export interface RowsOptions extends VenueCommandOptions {
  readonly limit?: number;
  readonly before?: string;
}

export const MAX_PAGE = 1_000;

/** `--limit`, whose default is printed, and `--before`. `given` names the option that these need. */
export function pageOptions(command: Command, rows: string, limit: number, given = ""): Command {
  const condition = given === "" ? "" : `with ${given}: `;
  const most = `${condition}how many at most, up to ${MAX_PAGE} (${limit})`;
  return command
    .option("--limit <N>", most, wholeNumber("--limit"))
    .option("--before <ID>", `${condition}only ${rows} older than this one`);
}

/** Rows of the profile's account. */
export function accountRows<Row, Options extends VenueCommandOptions>(
  command: Command,
  rows: RowsOf<TradingVenue, Row, [Options]>,
): void {
  command.action(
    exitWith(async (options: Options) => {
      rows.check?.(options);
      const { withSession } = await import("./connection.js");
      return withSession(options, (venue) => print(venue, rows, [options]));
    }),
  );
}

/** Rows of a market, or of all where the symbol is left out. */
export function marketRows<Row, Options extends VenueCommandOptions>(
  command: Command,
  rows: RowsOf<VenueAccess, Row, [string, Options]>,
): void {
  command.action(
    exitWith(async (symbol: string, options: Options) => {
      const { withVenue } = await import("./connection.js");
      return withVenue(options, (venue) => print(venue, rows, [symbol, options]));
    }),
  );
}

async function print<From extends VenueAccess, Row, Args extends unknown[]>(
  venue: From,
  { read, columns, none }: RowsOf<From, Row, Args>,
  args: Args,
): Promise<number> {
  const { client, output } = venue;
  const isFormatted = typeof columns === "function";
  const [rows, formatOf] = await Promise.all([
    read(venue, ...args),
    isFormatted ? marketFormats(client) : undefined,
  ]);
  const shown = isFormatted && formatOf !== undefined ? columns(formatOf, ...args) : columns;
  if (typeof shown !== "function") output.rows(shown, rows, none(...args));
  return 0;
}
