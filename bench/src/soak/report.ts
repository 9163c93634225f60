/** The table of a soak, in Markdown. */
import { machine, markdownRow } from "../harness/report.js";
import { isFault, type SoakFinding, type SoakSample } from "./judgement.js";

export interface SoakResult {
  readonly minutes: number;
  /** Operations a second: at saturation, and of the load. */
  readonly saturation: number;
  readonly rate: number;
  readonly samples: readonly SoakSample[];
  readonly findings: readonly SoakFinding[];
  /** By name, in the order in which they ran. */
  readonly attacks: readonly string[];
  readonly faults: readonly string[];
  readonly verified: string;
}

export function soakPage(result: SoakResult): string {
  const { minutes, saturation, rate, samples, findings, attacks, faults, verified } = result;
  const orders = samples.at(-1)?.load.orders ?? 0;
  const rows = findings.map((finding) => {
    const { what, level, slope, bound } = finding;
    return markdownRow([what, level, slope, bound, verdictOf(finding)]);
  });
  return [
    `${machine()}. ${minutes} minutes at ${rate.toFixed(0)} operations a second, a third of ` +
      `${saturation.toFixed(0)} at saturation; ${orders.toLocaleString("en-US")} orders ` +
      `acknowledged, ${attacks.length} attacks.`,
    "",
    markdownRow(["quantity", "level", "change", "bound", "verdict"]),
    markdownRow(["---", "---", "---", "---", "---"]),
    ...rows,
    "",
    ...refusals(samples),
    ...faults.map((fault) => `FAILED: ${fault}`),
    "```",
    verified,
    "```",
    "",
  ].join("\n");
}

/** One sample as a line of progress. */
export function progressLine({ atMs, life, venue, load }: SoakSample, running: string): string {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  return (
    `${(atMs / 60_000).toFixed(1)} min, process ${life + 1}: ${load.orders} orders, ` +
    `p50 ${load.p50Ms.toFixed(1)} ms, p99 ${load.p99Ms.toFixed(1)} ms, max ${load.maxMs.toFixed(0)} ms; ` +
    `RSS ${megabytes(venue.residentBytes)}, anonymous ${megabytes(venue.anonymousBytes)}, ` +
    `heap ${megabytes(venue.heapBytes)}, ${venue.openFiles} handles, ` +
    `folder ${megabytes(venue.folderBytes)}${running === "" ? "" : `; last attack ${running}`}`
  );
}

function verdictOf(finding: SoakFinding): string {
  if (!finding.isJudged) return "too short to say";
  return isFault(finding) ? "**fails**" : "holds";
}

function refusals(samples: readonly SoakSample[]): string[] {
  const counts = new Map<string, number>();
  for (const { load } of samples) {
    for (const [kind, count] of Object.entries(load.refused)) {
      counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
  }
  if (counts.size === 0) return [];
  const listed = [...counts].map(([kind, count]) => `${count} × ${kind}`).join(", ");
  return [`Refused to the load, restarts included: ${listed}.`, ""];
}
