/**
 * What every bench prints: one table for people, or with `--json` one object for programs. Progress
 * goes to standard error, so that standard output holds the result alone.
 */
import { cpus, totalmem } from "node:os";

export interface Row {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What the figure stands beside: a floor, a peer, a bar; null if it stands alone. */
  readonly against: string | null;
  readonly ratio: number | null;
}

export class Report {
  private readonly rows: Row[] = [];

  constructor(
    private readonly bench: string,
    private readonly leavesOut: readonly string[],
  ) {}

  add(metric: string, value: number, unit: string, against?: string, ratio?: number): void {
    this.rows.push({
      metric,
      value: rounded(value),
      unit,
      against: against ?? null,
      ratio: ratio === undefined ? null : rounded(ratio),
    });
  }

  print(asJson: boolean): void {
    const machine = `${cpus()[0]?.model ?? process.arch} × ${cpus().length}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
    if (asJson) {
      console.log(JSON.stringify({ bench: this.bench, machine, rows: this.rows }));
      return;
    }
    const cells = this.rows.map((row) => [
      row.metric,
      row.value.toLocaleString("en-US"),
      row.unit,
      row.against ?? "",
      row.ratio === null ? "" : `${row.ratio}×`,
    ]);
    const table = [["metric", "value", "unit", "beside", "ratio"], ...cells];
    const widths = table[0]!.map((_, i) => Math.max(...table.map((line) => line[i]!.length)));
    console.log(`${this.bench} on ${machine}\n`);
    for (const line of table) {
      console.log(
        line
          .map((cell, i) =>
            i === 1 || i === 4 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!),
          )
          .join("  ")
          .trimEnd(),
      );
    }
    console.log(`\nLeft out: ${this.leavesOut.join("; ")}.`);
  }
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
