/** Reports as text and as CSV; several are compared side by side. */

import type { RunReport, TraderReport } from "./run-report.js";

/** A run and what it is called, such as its file. */
export interface NamedReport {
  readonly name: string;
  readonly report: RunReport;
}

/** What a row of the summary is called, and how its value is written. */
const MEASURES: readonly (readonly [
  name: keyof Omit<TraderReport, "curve" | "address">,
  label: string,
])[] = [
  ["pnl", "PnL, dollars"],
  ["maxDrawdown", "largest drawdown, dollars"],
  ["fees", "fees, dollars"],
  ["funding", "funding received, dollars"],
  ["volume", "volume, dollars"],
  ["fills", "fills"],
  ["makerFills", "… as maker"],
  ["forcedFills", "… by the venue"],
  ["slippageToMarkBps", "slippage to mark, bps"],
  ["slippageToArrivalBps", "slippage to arrival, bps"],
  ["orders", "orders"],
  ["ordersFilled", "… filled"],
  ["ordersCanceled", "… canceled"],
  ["meanMsInBook", "mean time in book, ms"],
  ["maxExposure", "largest exposure, dollars"],
  ["meanExposure", "mean exposure, dollars"],
];

type SummaryRow = readonly [label: string, ...values: string[]];

interface SummaryTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly SummaryRow[];
}

/** A table for each trader, by the order in which they came; one of requests, one of refusals. */
export function summaryOf(runs: readonly NamedReport[]): SummaryTable[] {
  const head = ["", ...runs.map(({ name }) => name)];
  const count = Math.max(0, ...runs.map(({ report }) => report.traders.length));
  const traders = Array.from({ length: count }, (_, at) => {
    const of = runs.map(({ report }) => report.traders[at]);
    const rows = MEASURES.map(
      ([name, label]): SummaryRow => [label, ...of.map((trader) => numberText(trader?.[name]))],
    );
    return { title: `trader ${at + 1}, ${of.find(Boolean)?.address ?? ""}`, head, rows };
  });
  const operations = namesIn(runs, ({ requests }) => requests.map(({ operation }) => operation));
  const requests = operations.map((operation): SummaryRow => {
    const values = runs.map(({ report }) => {
      const found = report.requests.find((one) => one.operation === operation);
      if (found === undefined) return "";
      const { count: sent, refused, p50Ms, p99Ms } = found;
      return `${sent} (${refused} refused), p50 ${p50Ms}, p99 ${p99Ms}`;
    });
    return [operation, ...values];
  });
  const refusals = namesIn(runs, (report) => Object.keys(report.refusals)).map(
    (code): SummaryRow => [code, ...runs.map(({ report }) => numberText(report.refusals[code]))],
  );
  return [
    ...traders,
    { title: "requests to the core, ms of the machine's clock", head, rows: requests },
    { title: "refusals by code", head, rows: refusals },
  ].filter(({ rows }) => rows.length > 0);
}

export function reportText(runs: readonly NamedReport[]): string {
  const tables = summaryOf(runs).map(({ title, head, rows }) => {
    const widths = head.map((name, at) =>
      Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)),
    );
    const line = (cells: readonly string[]) =>
      cells
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join("  ")
        .trimEnd();
    const lines = runs.length > 1 ? [line(head), ...rows.map(line)] : rows.map(line);
    return [title, ...lines.map((text) => `  ${text}`)].join("\n");
  });
  return `${tables.join("\n\n")}\n`;
}

/** A row for each value, with the venue's time where it is one of a curve. */
export function reportCsv(runs: readonly NamedReport[]): string {
  const lines = ["run,trader,time_ms,measure,value"];
  const add = (...cells: readonly (string | number | null)[]) =>
    lines.push(cells.map(cellText).join(","));
  for (const { name, report } of runs) {
    for (const trader of report.traders) {
      for (const [measure] of MEASURES) add(name, trader.address, "", measure, trader[measure]);
      for (const [timeMs, pnl, exposure] of trader.curve) {
        add(name, trader.address, timeMs, "curve_pnl", pnl);
        add(name, trader.address, timeMs, "curve_exposure", exposure);
      }
    }
    for (const { operation, ...values } of report.requests) {
      for (const [measure, value] of Object.entries(values))
        add(name, "", "", `${operation}_${measure}`, value);
    }
    for (const [code, value] of Object.entries(report.refusals))
      add(name, "", "", `refused_${code}`, value);
  }
  return `${lines.join("\n")}\n`;
}

function namesIn(
  runs: readonly NamedReport[],
  of: (report: RunReport) => readonly string[],
): string[] {
  return [...new Set(runs.flatMap(({ report }) => of(report)))];
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : String(value);
}

function cellText(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
