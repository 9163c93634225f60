/** What an attack did to the honest trader, whether the venue passes, and the table of all rows. */
import { alignedTable, machine } from "../../harness/report.js";
import type { Tally } from "../wire/line.js";

/** The honest trader's operations during one run. */
export interface Measured {
  /** From due to answered; of an operation without an answer, until the trader gave up. */
  readonly medianMs: number;
  readonly maxMs: number;
  readonly operations: number;
  readonly unanswered: number;
  /** Operations refused or lost, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface TrialRun extends Measured {
  readonly tally: Tally;
}

export interface VenueCost {
  readonly cpuSeconds: number;
  readonly logBytes: number;
  /** How long it was still busy after the attack. */
  readonly busyAfterMs: number;
  readonly residentGrowthBytes: number;
  /** Descriptors that are open after the attack and were not before. */
  readonly filesLeftOpen: number;
  readonly isAlive: boolean;
}

export interface VerdictRow {
  readonly attack: string;
  readonly kind: string;
  readonly trader: string;
  readonly shows: string;
  readonly discarded: TrialRun;
  readonly attacked: TrialRun;
  readonly ratio: number;
  readonly venue: VenueCost;
  /** Empty if the venue passes. */
  readonly faults: readonly string[];
}

/** The bars: relative to the discarded run, and absolute. */
const MAX_RATIO = 5;
const MAX_MEDIAN_MS = 40;
const MAX_WAIT_MS = 1_000;

export function faultsOf(attacked: TrialRun, discarded: TrialRun, venue: VenueCost): string[] {
  const { medianMs, maxMs, unanswered } = attacked;
  const ratio = medianMs / discarded.medianMs;
  const refused = Object.entries(attacked.refused).map(([why, count]) => `${count} × ${why}`);
  const checks: readonly (readonly [isFault: boolean, fault: string])[] = [
    [!venue.isAlive, "the venue ended"],
    [ratio >= MAX_RATIO, `median ${ratio.toFixed(1)} times the discarded`],
    [medianMs >= MAX_MEDIAN_MS, `median ${medianMs.toFixed(0)} ms`],
    [maxMs >= MAX_WAIT_MS, `an order waited ${maxMs.toFixed(0)} ms`],
    [unanswered > 0, `${unanswered} orders without an answer`],
    [refused.length > 0, `honest orders refused: ${refused.join(", ")}`],
  ];
  return checks.filter(([isFault]) => isFault).map(([, fault]) => fault);
}

/** By column: its heading and its cell. */
const COLUMNS: readonly (readonly [string, (row: VerdictRow) => string | number])[] = [
  ["attack", ({ attack }) => attack],
  ["trader", ({ trader }) => trader],
  ["discarded ms", ({ discarded }) => discarded.medianMs.toFixed(2)],
  ["attacked ms", ({ attacked }) => attacked.medianMs.toFixed(2)],
  ["ratio", ({ ratio }) => `${ratio.toFixed(1)}×`],
  ["max ms", ({ attacked }) => attacked.maxMs.toFixed(0)],
  ["sent MB", ({ attacked }) => (attacked.tally.bytesSent / 1e6).toFixed(1)],
  ["conns", ({ attacked }) => attacked.tally.connections],
  ["closed", ({ attacked: { tally } }) => tally.closedByServer + tally.notConnected],
  ["venue CPU s", ({ venue }) => venue.cpuSeconds.toFixed(1)],
  ["busy after s", ({ venue }) => (venue.busyAfterMs / 1_000).toFixed(1)],
  ["log MB", ({ venue }) => (venue.logBytes / 1e6).toFixed(1)],
  ["RSS +MB", ({ venue }) => (venue.residentGrowthBytes / 1e6).toFixed(0)],
  ["fds left", ({ venue }) => venue.filesLeftOpen],
  ["verdict", ({ faults }) => (faults.length === 0 ? "PASS" : "FAIL")],
];

export function tableOf(rows: readonly VerdictRow[]): string {
  const failed = rows.filter(({ faults }) => faults.length > 0);
  const headings = COLUMNS.map(([heading]) => heading);
  const cells = rows.map((row) => COLUMNS.map(([, cell]) => String(cell(row))));
  return [
    `attacks on ${machine()}\n\n${alignedTable(headings, cells)}\n`,
    ...failed.map(({ attack, faults }) => `FAILED ${attack}: ${faults.join("; ")}`),
    `${rows.length - failed.length} passed, ${failed.length} failed`,
  ].join("\n");
}

/** One attack as a line of progress, with the answers it got. */
export function rowLine({ attack, attacked, discarded, ratio, faults }: VerdictRow): string {
  const answers = Object.entries(attacked.tally.answers).map(([kind, n]) => `${kind}: ${n}`);
  const verdict = faults.length === 0 ? "pass" : `FAIL ${faults.join("; ")}`;
  return (
    `${attack}: ${discarded.medianMs.toFixed(2)} → ${attacked.medianMs.toFixed(2)} ms ` +
    `(${ratio.toFixed(1)}×), max ${attacked.maxMs.toFixed(0)} ms, ${verdict}; ` +
    `answers ${answers.join(", ") || "none"}`
  );
}
