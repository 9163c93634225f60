import { type BenchResult, cellsOf, HEADINGS, markdownRow } from "./harness/report.js";

const BEGIN = "<!-- the last table of `npm run bench -- --write-docs`; not by hand -->";
const END = "<!-- end of the table -->";

/** The page with the results between its two marks; throws if it has no marks. */
export function withTable(
  page: string,
  results: readonly Pick<BenchResult, "bench" | "rows">[],
  origin: string,
): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("docs/performance.md has no place for the table");
  const headings = ["part", ...HEADINGS];
  const lines = results.flatMap(({ bench, rows }) => rows.map((row) => [bench, ...cellsOf(row)]));
  const table = [headings, headings.map(() => "---"), ...lines].map(markdownRow).join("\n");
  return `${page.slice(0, begin + BEGIN.length)}\n\n${origin}.\n\n${table}\n\n${page.slice(end)}`;
}
