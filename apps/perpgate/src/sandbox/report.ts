/** What runs of a sandbox were worth, in several forms. */

import { readFileSync, writeFileSync } from "node:fs";
import { basename, extname } from "node:path";
import {
  type NamedReport,
  parseReport,
  reportCsv,
  reportHtml,
  reportText,
} from "@perpgate/sandbox";
import { StartError, UsageError } from "../cli/start-error.js";

type ReportFormat = "text" | "json" | "csv" | "html";

interface ReportOptions {
  readonly format?: ReportFormat;
  readonly out?: string;
}

const FORMS: Readonly<Record<ReportFormat, (runs: readonly NamedReport[]) => string>> = {
  text: reportText,
  csv: reportCsv,
  html: reportHtml,
  json: (runs) => `${JSON.stringify(runs.length === 1 ? runs[0]?.report : runs)}\n`,
};

/** Each run is a file that `perpgate sandbox --report` wrote, or the control API of one that goes on. */
export async function runReport(
  runs: readonly string[],
  { format = "text", out }: ReportOptions,
): Promise<number> {
  const reports: NamedReport[] = [];
  for (const run of runs) reports.push(await read(run));
  const text = FORMS[format](reports);
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(out, text);
  return 0;
}

async function read(run: string): Promise<NamedReport> {
  const isAddress = /^https?:/.test(run);
  try {
    const text = isAddress ? await running(run) : readFileSync(run, "utf8");
    const name = isAddress ? new URL(run).host : basename(run, extname(run));
    return { name, report: parseReport(text, run) };
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw new StartError(`${run}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function running(control: string): Promise<string> {
  const response = await fetch(new URL("/report", control));
  if (response.ok) return response.text();
  throw new Error(`answers ${response.status}; give the address of a sandbox's control API`);
}
