import { readFileSync } from "node:fs";
import { LedgerKind } from "@perpgate/protocol";
import { type ExportRow, exportColumns } from "@perpgate/venue";
import { expect, test } from "vitest";
import { KOINLY_COLUMNS, koinlyRows } from "./koinly.js";

const DOCS = new URL("../../../../docs/export.md", import.meta.url);

async function* entries(...kinds: readonly string[]): AsyncGenerator<ExportRow> {
  for (const [i, kind] of kinds.entries()) {
    const values = { time_at: "2027-01-15T08:00:00.000Z", kind, amount_usd: -1_000, id: `${i}-0` };
    yield exportColumns("ledger").map(
      ({ name }) => new Map(Object.entries(values)).get(name) ?? null,
    );
  }
}

async function labelsOf(...kinds: readonly string[]): Promise<unknown[]> {
  const at = KOINLY_COLUMNS.findIndex(({ name }) => name === "Label");
  const labels: unknown[] = [];
  for await (const row of koinlyRows(exportColumns("ledger"), entries(...kinds))) {
    labels.push(row[at]);
  }
  return labels;
}

test("a withdrawal: a transfer, and its fee a cost; neither is a gain or a loss", async () => {
  expect(await labelsOf("withdrawal", "withdrawalFee")).toEqual(["", "cost"]);
});

test("every kind of entry: it has the label that docs/export.md gives it", async () => {
  const rows = readFileSync(DOCS, "utf8").split("## For tax tools")[1] ?? "";
  const documented = new Map<string, string>();
  for (const [, kinds = "", label = ""] of rows.matchAll(/^\| (`.*?) \| (.*?) \|$/gm)) {
    for (const [, kind = ""] of kinds.matchAll(/`(\w+)`/g)) {
      documented.set(kind, /^`([^`]+)`/.exec(label)?.[1] ?? "");
    }
  }
  const kinds = LedgerKind.enum.filter((kind) => kind !== "margin");
  expect([...documented.keys()].sort()).toEqual([...kinds].sort());
  expect(await labelsOf(...kinds)).toEqual(kinds.map((kind) => documented.get(kind)));
});

test("an entry of a kind that a later release has: no file with a wrong label", async () => {
  await expect(labelsOf("deposit", "lottery")).rejects.toThrow(/lottery.*update/);
});
