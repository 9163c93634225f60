/**
 * `perpgate cluster status`: a row per gateway, as each of them answers, and a row per core, as the core
 * that leads has heard it.
 */

import { getReadiness, getStatus, pathOf } from "@perpgate/protocol/operations";
import { Output } from "../cli/output.js";
import { codeOf, reasonOf } from "../cli/start-error.js";

interface StatusOptions {
  readonly url: readonly string[];
  readonly json?: boolean;
}

interface Row {
  readonly url: string;
  readonly state: string;
  readonly position: string;
  readonly block: string;
  readonly release: string;
}

/** What a core says of itself, as `ClusterCore` has it. */
const CORE_FIELDS = [
  { field: "name", title: "core" },
  { field: "state", title: "state" },
  { field: "epoch", title: "epoch" },
  { field: "sequence", title: "message" },
  { field: "clockAheadMs", title: "clock ahead ms" },
  { field: "server", title: "server" },
  { field: "release", title: "release" },
] as const;
type CoreRow = Readonly<Record<(typeof CORE_FIELDS)[number]["field"], string>>;

interface Answer extends Row {
  /** Of the core that answered the gateway. */
  readonly epoch: number;
  readonly cores: readonly CoreRow[];
}

const WITHIN_MS = 2_000;
const HERE = ["http://127.0.0.1:8080", "http://127.0.0.1:8081", "http://127.0.0.1:8082"];

export async function clusterStatusCommand({ url, json }: StatusOptions): Promise<number> {
  const output = new Output(json === true);
  const answers = await Promise.all((url.length === 0 ? HERE : url).map(answerOf));
  const rows = answers.map(({ epoch: _epoch, cores: _cores, ...row }) => row);
  // One that is cut off may still answer what was.
  const { cores } = answers.reduce((best, next) => (next.epoch > best.epoch ? next : best));
  if (output.isJson) output.json({ gateways: rows, cores });
  else print(output, rows, cores);
  const isLed = cores.length === 0 || cores.some(({ state }) => state === "leads");
  const isWhole = cores.every(({ state }) => state !== "silent");
  return isLed && isWhole && rows.every(({ state }) => state === "ready") ? 0 : 1;
}

function print(output: Output, rows: readonly Row[], cores: readonly CoreRow[]): void {
  output.rows(
    [
      { title: "gateway", cell: (row: Row) => row.url },
      { title: "state", cell: (row: Row) => row.state },
      { title: "position", cell: (row: Row) => row.position },
      { title: "block", cell: (row: Row) => row.block },
      { title: "release", cell: (row: Row) => row.release },
    ],
    rows,
    "no gateway",
  );
  if (cores.length === 0) return;
  output.line();
  const columns = CORE_FIELDS.map(({ field, title }) => ({
    title,
    cell: (core: CoreRow) => core[field],
  }));
  output.rows(columns, cores, "no core");
}

async function answerOf(given: string): Promise<Answer> {
  const url = given.replace(/\/+$/, "");
  try {
    const [status, ready] = await Promise.all([
      get(url + pathOf(getStatus)),
      get(url + pathOf(getReadiness)),
    ]);
    return {
      url,
      state: ready.isOk ? "ready" : textOf(ready.body.message),
      position: textOf(status.body.position),
      block: textOf(status.body.block),
      release: textOf(status.body.release),
      epoch: Number(status.body.epoch ?? 0),
      cores: coresIn(status.body.cluster),
    };
  } catch (error) {
    const nothing = { position: "", block: "", release: "", epoch: -1, cores: [] };
    return { url, state: noAnswer(error), ...nothing };
  }
}

/** None of a venue whose log is on one machine. */
function coresIn(cluster: unknown): readonly CoreRow[] {
  if (!isObject(cluster) || !Array.isArray(cluster.cores)) return [];
  return cluster.cores.filter(isObject).map((core) => ({
    name: textOf(core.name),
    state: textOf(core.state),
    epoch: textOf(core.epoch),
    sequence: textOf(core.sequence),
    clockAheadMs: textOf(core.clockAheadMs),
    server: textOf(core.server),
    release: textOf(core.release),
  }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** `fetch` says only that it failed; its cause has the address, or a code where it tried several. */
function noAnswer(error: unknown): string {
  if (!(error instanceof Error) || error.cause === undefined) return reasonOf(error);
  const reason = reasonOf(error.cause);
  return reason === "" ? String(codeOf(error.cause)) : reason;
}

async function get(url: string) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
  const body: Readonly<Record<string, unknown>> = JSON.parse(await answer.text());
  return { isOk: answer.ok, body };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
