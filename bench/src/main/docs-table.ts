/** The table as docs/performance.md holds it, between two marks that only this file moves. */
import { type BenchResult, cellsOf, HEADINGS } from "../report.js";

export const BEGIN = "<!-- the last table of `npm run bench -- --write-docs`; not by hand -->";
export const END = "<!-- end of the table -->";

export function docsTable(results: readonly BenchResult[], origin: string): string {
  const headings = ["part", ...HEADINGS];
  const lines = results.flatMap(({ bench, rows }) =>
    rows.filter(({ isDetail }) => !isDetail).map((row) => [bench, ...cellsOf(row)]),
  );
  const markdown = [headings, headings.map(() => "---"), ...lines].map(
    (cells) => `| ${cells.map((cell) => cell.trim().replaceAll("|", "\\|")).join(" | ")} |`,
  );
  return [`${origin}.`, "", ...markdown].join("\n");
}

/** The page with the table in its place; a page without the place is an error. */
export function withTable(page: string, table: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("docs/performance.md has no place for the table");
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`;
}
