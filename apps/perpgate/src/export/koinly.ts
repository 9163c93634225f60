/**
 * The ledger in Koinly's simple layout, which most tax tools read: one signed amount a row. Of a futures
 * position only its outcome in dollars counts. Moves of margin change no balance and are left out.
 */
import type { LedgerEntry } from "@perpgate/protocol";
import type { ExportColumn, ExportRow } from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";

export const KOINLY_COLUMNS: readonly ExportColumn[] = [
  { name: "Koinly Date", type: "text" },
  { name: "Amount", type: "number" },
  { name: "Currency", type: "text" },
  { name: "Label", type: "text" },
  { name: "Description", type: "text" },
  { name: "TxHash", type: "text" },
];

const TRANSFER = "";
const OUTCOME = "realized gain";
const LABELS = {
  deposit: TRANSFER,
  withdrawal: TRANSFER,
  grant: "reward",
  fee: "cost",
  withdrawalFee: "cost",
  pnl: OUTCOME,
  funding: OUTCOME,
  liquidation: OUTCOME,
  adl: OUTCOME,
  settlement: OUTCOME,
  margin: TRANSFER,
} as const satisfies Record<LedgerEntry["kind"], string>;
const LABEL_OF: ReadonlyMap<unknown, string> = new Map(Object.entries(LABELS));

/**
 * `columns` are those of the ledger. The id of the entry, which is unique, stands for a hash.
 *
 * @throws {StartError} for a kind of entry that only a later release knows
 */
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
    const label = LABEL_OF.get(row[kind]);
    if (label === undefined) {
      throw new StartError(`the ledger has an entry of kind ${row[kind]}: update perpgate`);
    }
    yield [`${day} ${clock.slice(0, 8)} UTC`, value, "USD", label, what.join(" "), row[id] ?? null];
  }
}
