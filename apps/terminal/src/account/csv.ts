/** A list of the account as a CSV file, with the fields of the interface under their names. */

import type { Terminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";
import { saveFile } from "../ui/save-file.js";
import { type LoadRows, readPage } from "../venue/paged-list.js";

const PAGE = 500;
const MOST_ROWS = 20_000;

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Reads the whole list, up to a bound, and hands it to the browser; says what is missing. */
export async function saveCsv<Row extends object>(
  { toasts }: Pick<Terminal, "toasts">,
  name: string,
  load: LoadRows<Row>,
  idOf: (row: Row) => string,
): Promise<void> {
  const { rows, missing } = await readAll(load, idOf);
  saveFile(`${name}.csv`, csvOf(rows));
  const title = countOf(rows.length, t.counts.rowsSaved);
  toasts.show(missing === "" ? "good" : "bad", title, missing);
}

/** The whole list, newest first, up to a bound, and in words what it lacks. */
export async function readAll<Row>(
  load: LoadRows<Row>,
  idOf: (row: Row) => string,
): Promise<{ readonly rows: readonly Row[]; readonly missing: string }> {
  const rows: Row[] = [];
  for (;;) {
    const last = rows.at(-1);
    const cursor = last === undefined ? {} : { before: idOf(last) };
    const page = await readPage(load, { limit: PAGE, ...cursor });
    rows.push(...page.rows);
    if (page.rows.length < PAGE) return { rows, missing: page.isCut ? t.table.keptNoLonger : "" };
    if (rows.length >= MOST_ROWS) return { rows, missing: t.table.hasOlder };
  }
}

/** RFC 4180; nested values as JSON, and no text that a spreadsheet would compute. */
export function csvOf(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => {
    const fields = new Map<string, unknown>(Object.entries(row));
    return names.map((name) => cellOf(fields.get(name))).join(",");
  });
  return [names.join(","), ...lines, ""].join("\r\n");
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
