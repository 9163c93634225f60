/** A list of the account as a CSV file, with the fields of the interface under their names. */

import type { Terminal } from "../terminal.js";
import { saveFile } from "../ui/save-file.js";
import type { PageQuery } from "../venue/paged-list.js";

const PAGE = 500;
const MOST_ROWS = 20_000;
/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Reads the whole list, up to a bound that it names, and hands it to the browser. */
export async function saveCsv<Row extends object>(
  { toasts }: Pick<Terminal, "toasts">,
  label: string,
  load: (query: PageQuery) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): Promise<void> {
  const rows: Row[] = [];
  for (;;) {
    const last = rows.at(-1);
    const page = await load({ limit: PAGE, ...(last === undefined ? {} : { before: idOf(last) }) });
    rows.push(...page);
    if (page.length < PAGE || rows.length >= MOST_ROWS) break;
  }
  saveFile(`${label.toLowerCase().replaceAll(" ", "-")}.csv`, csvOf(rows));
  const isCut = rows.length >= MOST_ROWS;
  toasts.show(
    isCut ? "bad" : "good",
    `${rows.length} rows saved`,
    isCut ? "There are older ones." : "",
  );
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
