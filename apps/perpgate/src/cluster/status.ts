/** `perpgate cluster status`: a row per gateway, as each of them sees the cluster. */

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

const WITHIN_MS = 2_000;
const HERE = ["http://127.0.0.1:8080", "http://127.0.0.1:8081", "http://127.0.0.1:8082"];

export async function status({ url, json }: StatusOptions): Promise<number> {
  const output = new Output(json === true);
  const rows = await Promise.all((url.length === 0 ? HERE : url).map(rowOf));
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
  return rows.every(({ state }) => state === "ready") ? 0 : 1;
}

async function rowOf(given: string): Promise<Row> {
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
    };
  } catch (error) {
    return { url, state: noAnswer(error), position: "", block: "", release: "" };
  }
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
