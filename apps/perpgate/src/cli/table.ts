/**
 * Rows as aligned text: numbers to the right, words to the left, two spaces between columns.
 *
 * Widths are those of the text without colour, so that colour never shifts a column. Every cell is
 * made printable here.
 */

import { printable } from "./printable.js";
import type { Paint, Tone } from "./style.js";

export type TableCell = string | { readonly text: string; readonly tone: Tone };

export interface Column<Row> {
  readonly title: string;
  /** `right` for numbers; `left` by default. */
  readonly align?: "left" | "right";
  readonly cell: (row: Row) => TableCell;
}

/** A column of words. */
export function left<Row>(title: string, cell: (row: Row) => TableCell): Column<Row> {
  return { title, cell };
}

/** A column of numbers. */
export function right<Row>(title: string, cell: (row: Row) => TableCell): Column<Row> {
  return { title, align: "right", cell };
}

const GAP = "  ";

export function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint,
): string {
  const titles = columns.map(({ title }) => ({ text: title, tone: "dim" as const }));
  const lines = [titles, ...rows.map((row) => columns.map(({ cell }) => plain(cell(row))))];
  const widths = columns.map((_, at) =>
    Math.max(...lines.map((cells) => [...(cells[at]?.text ?? "")].length)),
  );
  return lines
    .map((cells) =>
      cells
        .map(({ text, tone }, at) => {
          const pad = " ".repeat((widths[at] ?? 0) - [...text].length);
          const painted = paint(text, tone);
          return columns[at]?.align === "right" ? pad + painted : painted + pad;
        })
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** Names and values, one per line. */
export function listText(entries: readonly (readonly [string, TableCell])[], paint: Paint): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) => {
      const { text, tone } = plain(value);
      return `  ${paint(name.padEnd(width), "dim")}${GAP}${paint(text, tone)}`;
    })
    .join("\n");
}

function plain(cell: TableCell): { readonly text: string; readonly tone: Tone } {
  if (typeof cell === "string") return { text: printable(cell), tone: "plain" };
  return { text: printable(cell.text), tone: cell.tone };
}
