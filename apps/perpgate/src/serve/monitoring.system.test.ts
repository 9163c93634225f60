/**
 * What an operator watches, held against a real gateway: the alert rules and the dashboard in `deploy`, and
 * the tables of docs/operating.md. UPDATE_DOCS=1 writes the table of alerts from the rules.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { privateKeyFromSeed, publicKeyHex } from "@perpgate/bridge";
import { StreamClient } from "@perpgate/gateway/testing";
import { ERROR_CODES } from "@perpgate/protocol/core";
import { StubWitness } from "@perpgate/venue/testing";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { CLUSTER_GAUGES } from "../cluster/cluster-probe.js";
import { relayMetrics } from "../operator/relay.js";
import { ProcessClient } from "../testing/client.js";
import { familyName, MetricsReading } from "../testing/metrics-text.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { type Matcher, type PromQuery, parsePromQl } from "../testing/promql.js";
import { chainSettings } from "./bridge/testing/chain-process.js";

const ROOT = new URL("../../../../", import.meta.url);
const GUIDE = fileURLToPath(new URL("docs/operating.md", ROOT));
/** What Prometheus adds: the metric of each scrape, and labels of the target. */
const OWN_METRICS = ["up"];
const TARGET_LABELS = ["instance", "job", "process"];
const RATES = ["rate", "increase"];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly because: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

function fileText(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

const rules: readonly Rule[] = parse(fileText("deploy/prometheus/rules.yml")).groups.flatMap(
  ({ rules: group }: { rules: Rule[] }) => group,
);
const panels: readonly Panel[] = JSON.parse(fileText("deploy/grafana/dashboard.json")).panels;
const guide = readFileSync(GUIDE, "utf8");

let url: string;
let witness: StubWitness;
let reading: MetricsReading;
/** Of `perpgate relay`, which docs/withdrawals.md lists. */
let relayer: MetricsReading;
/** Labels of each metric, by the table in docs/operating.md. */
let documented: ReadonlyMap<string, readonly string[]>;

const atEnd: (() => void)[] = [];
const whenDone = (stop: () => void) => void atEnd.push(stop);
afterAll(() => {
  for (const stop of atEnd) stop();
});

/** A venue with every part that has metrics, apart from a replicated log. */
beforeAll(async () => {
  witness = await StubWitness.start();
  whenDone(() => witness.close());
  // It fails once; then it cosigns.
  witness.onCheckpoint = async () => {
    witness.onCheckpoint = async () => undefined;
    return { status: 500 };
  };
  const [vault, usdc] = [`0x${"0a".repeat(20)}`, `0x${"0b".repeat(20)}`] as const;
  const nobody = { rpc: "http://127.0.0.1:1", vault, usdc } as const;
  const member = publicKeyHex(privateKeyFromSeed("11".repeat(32)));
  const settings = {
    ...chainSettings(nobody, { members: [member] }),
    receipts: { witnesses: [witness.setting] },
  };
  const config = configurationFile(settings, whenDone);
  const data = temporaryFolder(whenDone);
  const args = ["--port", "0", "--data", data, "--config", config];
  url = await new PerpgateProcess(args, {}, undefined, whenDone).url();
  while (!(await fetch(`${url}/readyz`)).ok);
  await useBothTransports();
  documented = documentedMetrics();
  const registry = new Registry();
  // As the pages of a gateway.
  registry.setDefaultLabels({ process: "relay" });
  relayMetrics(registry, "ethereum");
  relayer = new MetricsReading(await registry.metrics());
  reading = await read();
});

async function read(): Promise<MetricsReading> {
  return new MetricsReading(await (await fetch(`${url}/metrics`)).text());
}

/** An order over each transport; the account has no money, so both are refused. */
async function useBothTransports(): Promise<void> {
  const trader = new ProcessClient(url);
  await trader.signIn();
  const order = {
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 10,
    leverage: 2,
    nonce: 1,
  };
  expect((await trader.place(order)).status).toBe(400);
  const client = await StreamClient.connect(url, trader.token, undefined, whenDone);
  const sig = trader.signatureOf(order)["x-service-sig"];
  const refused = await client.ask({ op: "order", body: JSON.stringify(order), sig });
  expect(refused.t).toBe("error");
  await client.close();
}

function documentedMetrics(): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  const rows = sectionOf("## Metrics").matchAll(/^\| (`.*?) \|/gm);
  for (const [, cell = ""] of rows) {
    for (const [, name = "", labels = ""] of cell.matchAll(/`(\w+)(?:\{([\w,]+)\})?`/g)) {
      names.set(name, labels === "" ? [] : labels.split(","));
    }
  }
  return names;
}

function sectionOf(heading: string): string {
  const start = guide.indexOf(`${heading}\n`);
  expect(start, heading).toBeGreaterThan(-1);
  const end = guide.indexOf("\n## ", start + 1);
  return guide.slice(start, end);
}

test("a running venue: ready, a growing log, no halted market, free disk space", async () => {
  expect(reading.value("perpgate_ready")).toBe(1);
  for (const symbol of ["BTCUSD", "ETHUSD", "SOLUSD"]) {
    expect(reading.value(`perpgate_market_halted{symbol="${symbol}"}`)).toBe(0);
  }
  expect(reading.value("perpgate_clock_lead_seconds")).toBeLessThanOrEqual(2);
  expect(reading.value('perpgate_clock_jumps_total{kind="doubted"}')).toBe(0);
  expect(reading.value("perpgate_data_free_bytes")).toBeGreaterThan(0);
  expect(reading.value("perpgate_log_spare_missing")).toBe(0);
  expect(reading.value("perpgate_tlog_conflict")).toBe(0);
  expect(reading.value("perpgate_tlog_witnesses")).toBe(1);
  const position = reading.value("perpgate_log_position") ?? 0;
  expect(position).toBeGreaterThan(0);
  const failures = `perpgate_witness_failures_total{witness="${witness.key.name}"}`;
  for (let later = reading; ; later = await read()) {
    const isPublished = later.value('perpgate_tlog_checkpoints_total{stage="published"}') !== 0;
    const hasFailed = (later.value(failures) ?? 0) > 0;
    if (isPublished && hasFailed && (later.value("perpgate_log_position") ?? 0) > position) break;
  }
});

test("the table of metrics: every metric of the process, with its labels", () => {
  const ours = [...reading.families.keys()].filter((name) => name.startsWith("perpgate_"));
  const all = [...ours, ...CLUSTER_GAUGES.map(({ name }) => name)];
  const written = [...documented.keys()].filter((name) => name.startsWith("perpgate_"));
  expect(written.toSorted()).toEqual(all.toSorted());
  for (const [name, labels] of documented) {
    const family = reading.families.get(name);
    if (family?.hasSeries !== true || !name.startsWith("perpgate_")) continue;
    expect([...family.labels].toSorted(), name).toEqual(labels.toSorted());
  }
});

function queriesOf(panel: Panel): readonly PromQuery[] {
  return (panel.targets ?? []).map(({ expr }) =>
    parsePromQl(expr.replaceAll("$__rate_interval", "5m")),
  );
}

/** What of the query this gateway, or Prometheus, does not have. */
function unknownIn(query: PromQuery): string[] {
  const known = new Set<string>(["le", ...TARGET_LABELS]);
  const problems = query.selectors.flatMap(({ metric, matchers, functions }) => {
    if (OWN_METRICS.includes(metric)) return matchers.flatMap(targetProblem);
    const name = familyName(metric, reading.families);
    const cluster = CLUSTER_GAUGES.some((gauge) => gauge.name === name);
    const family = reading.familyOf(metric) ?? relayer.familyOf(metric);
    const type = cluster ? "gauge" : family?.type;
    if (type === undefined) return [`no metric ${metric}`];
    const labels = documented.get(name) ?? [...(family?.labels ?? [])];
    for (const label of labels) known.add(label);
    const isRate = functions.some((called) => RATES.includes(called));
    return [
      ...(isRate && type === "gauge" ? [`rate of the gauge ${metric}`] : []),
      ...(type === "histogram" && metric === name ? [`${metric} is a histogram`] : []),
      ...matchers.flatMap((matcher) => matcherProblem(name, labels, matcher)),
    ];
  });
  const grouped = query.grouping.filter((label) => !known.has(label));
  return [...problems, ...grouped.map((label) => `no label ${label}`)];
}

function targetProblem({ label, value }: Matcher): string[] {
  const scrape = parse(fileText("deploy/prometheus/prometheus.yml")).scrape_configs[0];
  return label === "job" && value === scrape.job_name ? [] : [`${label}="${value}"`];
}

function matcherProblem(name: string, labels: readonly string[], matcher: Matcher): string[] {
  const { label, operator, value } = matcher;
  if (TARGET_LABELS.includes(label)) return [];
  if (!labels.includes(label)) return [`${name} has no label ${label}`];
  const family = reading.families.get(name);
  const seen = [...(family?.values ?? [])].map((pair) => pair.split("="));
  const values = [...seen.filter(([of]) => of === label).map(([, text = ""]) => text), ...POSSIBLE];
  const pattern = operator.endsWith("~") ? new RegExp(`^(?:${value})$`) : undefined;
  const exists = values.some((text) => pattern?.test(text) ?? text === value);
  return exists ? [] : [`${name}: no ${label} "${value}"`];
}

/** Values that a quiet gateway has not shown: error codes, a 5xx, close codes, chains. */
const POSSIBLE: readonly string[] = [...ERROR_CODES, "500", "1011", "4408", "arbitrum"];

test("alert rules: PromQL over metrics and labels that exist", () => {
  for (const { alert, expr, labels, annotations } of rules) {
    expect(unknownIn(parsePromQl(expr)), alert).toEqual([]);
    expect(["page", "ticket"], alert).toContain(labels.severity);
    expect(annotations.summary, alert).not.toBe("");
    expect(annotations.because, alert).not.toBe("");
  }
  const names = rules.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
});

test("alert rules: free space counts from the first minutes, and no week is predicted from them", () => {
  const free = rules.flatMap(({ expr, labels }) =>
    parsePromQl(expr)
      .selectors.filter(({ metric }) => metric === "perpgate_data_free_bytes")
      .map((selector) => ({ ...selector, severity: labels.severity })),
  );
  for (const severity of ["page", "ticket"]) {
    const bound = free.find((one) => one.severity === severity && one.functions.length === 0);
    expect(bound, severity).toMatchObject({ range: undefined, offset: undefined });
  }
  const ranges = free.flatMap(({ range }) => range ?? []);
  expect(ranges).toEqual(["15m", "6h"]);
  // A segment of the log is allocated in one step: within minutes it looks like a disk that fills in a week.
  const offsets = free.flatMap(({ offset }) => offset ?? []);
  expect(offsets).toEqual(["6h"]);
});

/** Times that a gateway does not have of what another one of the same log did: 0, or an old one. */
const TIMES_OF_ONE_GATEWAY = [
  "perpgate_attestor_last_request_timestamp_seconds",
  "perpgate_witness_last_cosigned_timestamp_seconds",
  "perpgate_tlog_checkpoint_timestamp_seconds",
];

test("alert rules: of several gateways, the newest time counts", () => {
  for (const metric of TIMES_OF_ONE_GATEWAY) {
    const uses = rules
      .flatMap(({ expr }) => parsePromQl(expr).selectors)
      .filter((selector) => selector.metric === metric);
    expect(uses, metric).not.toEqual([]);
    for (const { functions } of uses) expect(functions, metric).toContain("max");
  }
});

test("dashboard: PromQL over metrics and labels that exist; panels that do not overlap", () => {
  const taken = new Set<string>();
  for (const panel of panels) {
    for (const query of queriesOf(panel)) expect(unknownIn(query), panel.title).toEqual([]);
    const { x, y, w, h } = panel.gridPos;
    expect(x + w, panel.title).toBeLessThanOrEqual(24);
    for (let cell = 0; cell < w * h; cell++) {
      const place = `${x + (cell % w)},${y + Math.floor(cell / w)}`;
      expect(taken.has(place), `${panel.title} at ${place}`).toBe(false);
      taken.add(place);
    }
    for (const { legendFormat } of panel.targets ?? []) expect(legendFormat).not.toBe("");
  }
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

test("every metric of the project is alerted on or shown", () => {
  const queries = [...rules.map(({ expr }) => parsePromQl(expr)), ...panels.flatMap(queriesOf)];
  const used = new Set(
    queries.flatMap(({ selectors }) =>
      selectors.map(({ metric }) => familyName(metric, reading.families)),
    ),
  );
  const ours = [...documented.keys()].filter((name) => name.startsWith("perpgate_"));
  expect(ours.filter((name) => !used.has(name))).toEqual([]);
});

test("the table of alerts in docs/operating.md is that of the rules", () => {
  const marks = ["<!-- alerts: npm run docs -- alerts -->\n", "<!-- end of alerts -->"] as const;
  const from = guide.indexOf(marks[0]) + marks[0].length;
  const to = guide.indexOf(marks[1]);
  const lines = rules.map(({ alert, expr, for: span, labels, annotations }) => {
    const when = `\`${expr.replaceAll("|", "\\|")}\`${span === undefined ? "" : ` for ${span}`}`;
    return `| ${alert}, ${labels.severity} | ${when} | ${annotations.because} |\n`;
  });
  const table = `| alert | when | because |\n| --- | --- | --- |\n${lines.join("")}`;
  if (process.env.UPDATE_DOCS === "1") {
    writeFileSync(GUIDE, guide.slice(0, from) + table + guide.slice(to));
    return;
  }
  expect(guide.slice(from, to)).toBe(table);
});
