/** Reports as one page with charts, without scripts and without anything from elsewhere. */

import { type NamedReport, summaryOf } from "./report-text.js";
import type { TraderReport } from "./run-report.js";

const COLOURS = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2"];
const WIDTH = 900;
const HEIGHT = 220;
const MARGIN = { left: 90, right: 10, top: 10, bottom: 24 };
const LINES = 5;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .75rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; }
svg text { fill: currentColor; font-size: 11px; }
figure { margin: 0 0 1.5rem; }
figcaption span::before { content: "■ "; color: var(--of); }
figcaption span { margin-right: 1rem; }`;

export function reportHtml(runs: readonly NamedReport[]): string {
  const tables = summaryOf(runs).map(({ title, head, rows }) => {
    const cells = (row: readonly string[], tag: "td" | "th") =>
      `<tr>${row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
    return `<h2>${escaped(title)}</h2>
<table><thead>${cells(head, "th")}</thead><tbody>${rows.map((row) => cells(row, "td")).join("\n")}</tbody></table>`;
  });
  const names = runs.map(({ name }) => name).join(", ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Sandbox run: ${escaped(names)}</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>Sandbox run: ${escaped(names)}</h1>
${chart(runs, "PnL, dollars", ({ curve }) => curve.map(([timeMs, pnl]) => [timeMs, pnl]))}
${chart(runs, "Drawdown, dollars", drawdownOf)}
${chart(runs, "Exposure, dollars (long above 0)", ({ curve }) =>
  curve.map(([timeMs, , exposure]) => [timeMs, exposure]),
)}
${tables.join("\n")}
</body>
</html>
`;
}

type Point = readonly [x: number, y: number];

function drawdownOf({ curve }: TraderReport): Point[] {
  let top = 0;
  return curve.map(([timeMs, pnl]) => {
    top = Math.max(top, pnl);
    return [timeMs, pnl - top];
  });
}

/** A line for each trader of each run, by the time since the start of its run. */
function chart(
  runs: readonly NamedReport[],
  title: string,
  pointsOf: (trader: TraderReport) => readonly Point[],
): string {
  const lines = runs.flatMap(({ name, report }) =>
    report.traders.map((trader, at) => ({
      label: runs.length > 1 ? `${name}, trader ${at + 1}` : `trader ${at + 1}`,
      points: pointsOf(trader).map(([timeMs, y]): Point => [(timeMs - report.startMs) / 1_000, y]),
    })),
  );
  const points = lines.flatMap((line) => line.points);
  if (points.length === 0) return "";
  // Spread as arguments they would overflow the stack: each trader has up to 4,096.
  const right = points.reduce((most, [x]) => Math.max(most, x), 1);
  const low = points.reduce((least, [, y]) => Math.min(least, y), 0);
  const high = points.reduce((most, [, y]) => Math.max(most, y), low + 1);
  const x = (value: number) => MARGIN.left + (value / right) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value: number) =>
    HEIGHT - MARGIN.bottom - ((value - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const grid = Array.from({ length: LINES }, (_, at) => {
    const value = low + ((high - low) * at) / (LINES - 1);
    const height = y(value).toFixed(1);
    return `<path d="M${MARGIN.left} ${height}H${WIDTH - MARGIN.right}" stroke="#8884"/>
<text x="${MARGIN.left - 6}" y="${height}" text-anchor="end" dominant-baseline="middle">${value.toFixed(2)}</text>`;
  });
  const paths = lines.map(({ points: of }, at) => {
    const path = of.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("L");
    return `<path d="M${path}" fill="none" stroke="${colourOf(at)}" stroke-width="1.5"/>`;
  });
  const keys = lines.map(
    ({ label }, at) => `<span style="--of: ${colourOf(at)}">${escaped(label)}</span>`,
  );
  return `<h2>${escaped(title)}</h2>
<figure>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
${grid.join("\n")}
${paths.join("\n")}
<text x="${MARGIN.left}" y="${HEIGHT - 6}">0 s</text>
<text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 6}" text-anchor="end">${Math.round(right)} s</text>
</svg>
<figcaption>${keys.join("")}</figcaption>
</figure>`;
}

function colourOf(at: number): string {
  return COLOURS[at % COLOURS.length] ?? "currentColor";
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
