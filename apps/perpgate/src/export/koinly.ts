/**
 * The ledger in Koinly's simple layout, which most tax tools read: one signed amount a row. Of a futures
 * position only its outcome in dollars counts. Moves of margin change no balance and are left out.
 */

import type { ExportColumn, ExportRow } from "@perpgate/venue";

export const KOINLY_COLUMNS: readonly ExportColumn[] = [
  { name: "Koinly Date", type: "text" },
  { name: "Amount", type: "number" },
  { name: "Currency", type: "text" },
  { name: "Label", type: "text" },
  { name: "Description", type: "text" },
  { name: "TxHash", type: "text" },
];

/** Fees are costs; what is not named here is an outcome of a position. */
const LABELS: Readonly<Record<string, string>> = { deposit: "", grant: "reward", fee: "cost" };
const OUTCOME = "realized gain";

/** `columns` are those of the ledger. The id of the entry, which is unique, stands for a hash. */
export async function* koinlyRows(
  columns: readonly ExportColumn[],
  rows: AsyncIterable<ExportRow>,
): AsyncGenerator<ExportRow> {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [time, amount, kind] = [at("time_at"), at("amount_usd"), at("kind")];
  const [symbol, id, reference] = [at("symbol"), at("id"), at("reference")];
  for await (const row of rows) {
    const value = row[amount] ?? 0;
    if (value === 0) continue;
    const [day = "", clock = ""] = String(row[time]).split("T");
    const what = [row[kind], row[symbol], row[reference]].filter((each) => each !== null);
    const label = LABELS[String(row[kind])] ?? OUTCOME;
    yield [`${day} ${clock.slice(0, 8)} UTC`, value, "USD", label, what.join(" "), row[id] ?? null];
  }
}
