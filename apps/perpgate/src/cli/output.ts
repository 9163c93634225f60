/**
 * The result of a command goes to standard output, as a table for people or as JSON for programs.
 * Remarks go to standard error.
 */

import { type Paint, paintFor } from "./style.js";
import { type Column, listText, type TableCell, tableText } from "./table.js";

export class Output {
  readonly paint: Paint;
  /** Whether lines can be redrawn in place. */
  readonly canRedraw: boolean;

  constructor(readonly isJson: boolean) {
    const isTerminal = process.stdout.isTTY === true;
    this.paint = isJson ? (text) => text : paintFor({ isTerminal, environment: process.env });
    this.canRedraw = isTerminal && !isJson && process.env.TERM !== "dumb";
  }

  /** One document, or one line of a stream of them. */
  json(value: unknown): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  line(text = ""): void {
    process.stdout.write(`${text}\n`);
  }

  /** Not part of the result. */
  remark(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** The rows as JSON or as a table; `none` is the text if there are none. */
  rows<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): void {
    if (this.isJson) this.json(rows);
    else this.line(rows.length === 0 ? none : tableText(columns, rows, this.paint));
  }

  list(entries: readonly (readonly [string, TableCell])[]): void {
    this.line(listText(entries, this.paint));
  }
}
