/**
 * What every bench prints: one table for people, or with `--json` one object for programs. Progress
 * goes to standard error, so that standard output holds the result alone.
 *
 * A bench is made of steps. One that fails is named in the report and the rest still runs; the
 * process then ends with code 1.
 */
import { cpus, totalmem } from "node:os";

export interface Row {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What the figure stands beside: a floor, a peer, a bar; null if it stands alone. */
  readonly against: string | null;
  readonly ratio: number | null;
  /** Shown by the bench itself, left out of the one table of `npm run bench`. */
  readonly isDetail: boolean;
}

/** What a bench says with `--json`. */
export interface BenchResult {
  readonly bench: string;
  readonly machine: string;
  readonly rows: readonly Row[];
  /** Steps that failed, with their reasons. */
  readonly failures: readonly string[];
  readonly leavesOut: readonly string[];
}

export class Report {
  private readonly rows: Row[] = [];
  private readonly failures: string[] = [];

  constructor(
    private readonly bench: string,
    private readonly leavesOut: readonly string[],
  ) {}

  add(metric: string, value: number, unit: string, against?: string, ratio?: number): void {
    this.rows.push(rowOf(metric, value, unit, against, ratio, false));
  }

  detail(metric: string, value: number, unit: string, against?: string, ratio?: number): void {
    this.rows.push(rowOf(metric, value, unit, against, ratio, true));
  }

  /** Runs one part; whether it succeeded. */
  async step(name: string, work: () => void | Promise<void>): Promise<boolean> {
    progress(`${this.bench}: ${name} …`);
    try {
      await work();
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.failures.push(`${name}: ${reason}`);
      progress(`${this.bench}: ${name} failed: ${reason}`);
      return false;
    }
  }

  print(asJson: boolean): void {
    const { bench, rows, failures, leavesOut } = this;
    if (failures.length > 0) process.exitCode = 1;
    if (asJson) {
      const result: BenchResult = { bench, machine: machine(), rows, failures, leavesOut };
      console.log(JSON.stringify(result));
      return;
    }
    console.log(`${bench} on ${machine()}\n`);
    console.log(alignedTable(HEADINGS, rows.map(cellsOf)));
    for (const failure of failures) console.log(`\nFAILED: ${failure}`);
    console.log(`\nLeft out: ${leavesOut.join("; ")}.`);
  }
}

export const HEADINGS = ["metric", "value", "unit", "beside", "ratio"] as const;

export function cellsOf({ metric, value, unit, against, ratio }: Row): string[] {
  return [
    metric,
    value.toLocaleString("en-US"),
    unit,
    against ?? "",
    ratio === null ? "" : `${ratio}×`,
  ];
}

/** Figures are flush right, words flush left. */
export function alignedTable(
  headings: readonly string[],
  lines: readonly (readonly string[])[],
): string {
  const table = [headings, ...lines];
  const widths = headings.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  const isFigure = headings.map((heading) => heading === "value" || heading === "ratio");
  const pad = (cell: string, i: number): string =>
    isFigure[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!);
  return table.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${first?.model.trim() ?? process.arch} × ${cpus().length}, ${memory} GiB, Node ${process.versions.node}`;
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Of values in any order; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function rowOf(
  metric: string,
  value: number,
  unit: string,
  against: string | undefined,
  ratio: number | undefined,
  isDetail: boolean,
): Row {
  return {
    metric,
    value: rounded(value),
    unit,
    against: against ?? null,
    ratio: ratio === undefined ? null : rounded(ratio),
    isDetail,
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(value < 1_000 ? 3 : 4));
}
