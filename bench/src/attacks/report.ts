/** The table of `npm run test:attacks`. */
import { alignedTable, machine } from "../report.js";
import type { Row } from "./trial/verdict.js";

const HEADINGS = [
  "attack",
  "trader",
  "discarded ms",
  "attacked ms",
  "ratio",
  "max ms",
  "sent MB",
  "conns",
  "closed",
  "venue CPU s",
  "busy after s",
  "log MB",
  "RSS +MB",
  "fds left",
  "verdict",
] as const;

export function tableOf(rows: readonly Row[]): string {
  const failed = rows.filter(({ faults }) => faults.length > 0);
  const lines = [
    `attacks on ${machine()}`,
    "",
    alignedTable(HEADINGS, rows.map(cellsOf)),
    "",
    ...failed.map(({ attack, faults }) => `FAILED ${attack}: ${faults.join("; ")}`),
    `${rows.length - failed.length} passed, ${failed.length} failed`,
  ];
  return lines.join("\n");
}

/** One attack as a line of progress, with the answers it got. */
export function rowLine(row: Row): string {
  const { attacked, discarded, ratio, faults } = row;
  const answers = Object.entries(attacked.tally.answers)
    .map(([kind, count]) => `${kind}: ${count}`)
    .join(", ");
  const verdict = faults.length === 0 ? "pass" : `FAIL ${faults.join("; ")}`;
  return (
    `${row.attack}: ${discarded.medianMs.toFixed(2)} → ${attacked.medianMs.toFixed(2)} ms ` +
    `(${ratio.toFixed(1)}×), max ${attacked.maxMs.toFixed(0)} ms, ${verdict}; answers ${answers || "none"}`
  );
}

function cellsOf({ attack, trader, discarded, attacked, ratio, venue, faults }: Row): string[] {
  const { tally } = attacked;
  return [
    attack,
    trader,
    discarded.medianMs.toFixed(2),
    attacked.medianMs.toFixed(2),
    `${ratio.toFixed(1)}×`,
    attacked.maxMs.toFixed(0),
    (tally.bytesSent / 1e6).toFixed(1),
    String(tally.connections),
    String(tally.closedByServer + tally.notConnected),
    venue.cpuSeconds.toFixed(1),
    (venue.busyAfterMs / 1_000).toFixed(1),
    (venue.logBytes / 1e6).toFixed(1),
    (venue.residentGrowthBytes / 1e6).toFixed(0),
    String(venue.filesLeftOpen),
    faults.length === 0 ? "PASS" : "FAIL",
  ];
}
