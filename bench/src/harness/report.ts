/**
 * The report of a bench: a table, or with `--json` one object. Progress goes to standard error, so
 * that standard output has the result alone.
 *
 * A bench is made of steps. A step that fails is named in the report, the others still run, and the
 * process ends with code 1.
 */
import { cpus, totalmem } from "node:os";
import { build } from "hdr-histogram-js";

interface Row {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** A floor, a peer or a bar that the value is compared with. */
  readonly against: string | null;
  readonly ratio: number | null;
}

/** The output of a bench with `--json`. */
export interface BenchResult {
  readonly bench: string;
  readonly machine: string;
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
}

export class Report {
  private readonly rows: Row[] = [];
  private readonly failures: string[] = [];

  constructor(private readonly bench: string) {}

  add(metric: string, value: number, unit: string, against?: string, ratio?: number): void {
    const compared = ratio === undefined ? null : rounded(ratio);
    const row = { metric, value: rounded(value), unit, against: against ?? null, ratio: compared };
    this.rows.push(row);
  }

  /** Runs one step; returns whether it succeeded. */
  async step(name: string, work: () => void | Promise<void>): Promise<boolean> {
    progress(`${this.bench}: ${name} …`);
    try {
      await work();
      return true;
    } catch (error) {
      this.failures.push(`${name}: ${errorText(error)}`);
      progress(`${this.bench}: ${name} failed: ${errorText(error)}`);
      return false;
    }
  }

  print(asJson: boolean): void {
    const { bench, rows, failures } = this;
    const result: BenchResult = { bench, machine: machine(), rows, failures };
    if (failures.length > 0) process.exitCode = 1;
    const table = `${bench} on ${machine()}\n\n${alignedTable(HEADINGS, rows.map(cellsOf))}`;
    const lines = [table, ...failures.map((failure) => `\nFAILED: ${failure}`)];
    console.log(asJson ? JSON.stringify(result) : lines.join("\n"));
  }
}

export const HEADINGS = ["metric", "value", "unit", "compared with", "ratio"] as const;

export function cellsOf({ metric, value, unit, against, ratio }: Row): string[] {
  const times = ratio === null ? "" : `${ratio}×`;
  return [metric, value.toLocaleString("en-US"), unit, against ?? "", times];
}

/** Columns of numbers are right-aligned. */
export function alignedTable(
  headings: readonly string[],
  lines: readonly (readonly string[])[],
): string {
  const table = [headings, ...lines];
  const widths = headings.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  const isNumber = headings.map((heading) => heading === "value" || heading === "ratio");
  const pad = (cell: string, i: number): string =>
    isNumber[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!);
  return table.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.trim().replaceAll("|", "\\|")).join(" | ")} |`;
}

const BEGIN = "<!-- the last table of `npm run bench -- --write-docs`; not by hand -->";
const END = "<!-- end of the table -->";

/** The page with the results between its two marks; throws if it has no marks. */
export function withTable(page: string, results: readonly BenchResult[], origin: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("docs/performance.md has no place for the table");
  const headings = ["part", ...HEADINGS];
  const lines = results.flatMap(({ bench, rows }) => rows.map((row) => [bench, ...cellsOf(row)]));
  const table = [headings, headings.map(() => "---"), ...lines].map(markdownRow).join("\n");
  return `${page.slice(0, begin + BEGIN.length)}\n\n${origin}.\n\n${table}\n\n${page.slice(end)}`;
}

export function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const model = cpus()[0]?.model.trim() ?? process.arch;
  return `${model} × ${cpus().length}, ${memory} GiB, Node ${process.versions.node}`;
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The upper one of two middle values; 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The median of the ratios of neighbouring turns. */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, turn) => value / others[turn]!));
}

/** Runs all sides in turn, every second time in reverse; results by side. The first turn warms up. */
export async function inTurns<S, T>(
  name: string,
  turns: number,
  sides: readonly S[],
  run: (side: S) => T | Promise<T>,
): Promise<T[][]> {
  const results = sides.map((): T[] => []);
  const entries = [...sides.entries()];
  for (let turn = 0; turn <= turns; turn++) {
    if (turn % 10 === 1) progress(`${name}, turn ${turn} of ${turns} …`);
    for (const [i, side] of turn % 2 === 0 ? entries : entries.toReversed()) {
      const result = await run(side);
      if (turn > 0) results[i]!.push(result);
    }
  }
  return results;
}

export interface LatencySummary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const NS_PER_MS = 1e6;

/** A histogram of milliseconds, exact to three digits. */
export class Latencies {
  private readonly histogram = build({
    highestTrackableValue: 1e12,
    numberOfSignificantValueDigits: 3,
  });

  record(ms: number): void {
    this.histogram.recordValue(Math.max(0, Math.round(ms * NS_PER_MS)));
  }

  summary(): LatencySummary {
    const { histogram } = this;
    const at = (percent: number): number => histogram.getValueAtPercentile(percent) / NS_PER_MS;
    const max = histogram.totalCount === 0 ? 0 : histogram.maxValue / NS_PER_MS;
    return { count: histogram.totalCount, p50: at(50), p99: at(99), max };
  }
}

/** Repeats one operation after the other, on as many paths, for a time. */
export async function repeat(
  ms: number,
  paths: number,
  run: (path: number) => unknown,
): Promise<LatencySummary & { readonly perSecond: number }> {
  const latencies = new Latencies();
  const started = performance.now();
  const repeatOn = async (_: unknown, path: number): Promise<void> => {
    for (let now = started; now - started < ms; ) {
      await run(path);
      const done = performance.now();
      latencies.record(done - now);
      now = done;
    }
  };
  await Promise.all(Array.from({ length: paths }, repeatOn));
  const summary = latencies.summary();
  return { perSecond: (summary.count / (performance.now() - started)) * 1_000, ...summary };
}

function rounded(value: number): number {
  return Number(value.toPrecision(value < 1_000 ? 3 : 4));
}
