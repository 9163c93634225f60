/** What can be exported, and the columns of each: the same from a folder and from a gateway. */

export const EXPORT_KINDS = [
  ...(["trades", "candles", "funding", "fills", "orders", "ledger"] as const),
] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

export type ColumnType = "text" | "number" | "integer" | "boolean";
export type ExportCell = string | number | boolean | null;
export type ExportRow = readonly ExportCell[];

export interface ExportColumn {
  readonly name: string;
  readonly type: ColumnType;
}

type Columns = readonly (readonly [name: string, type: ColumnType])[];

const TIME: Columns = [
  ["time_at", "text"],
  ["time_ms", "integer"],
  ["symbol", "text"],
];

const COLUMNS: Readonly<Record<ExportKind, Columns>> = {
  trades: [
    ...TIME,
    ["id", "text"],
    ["price", "number"],
    ["size", "number"],
    ["taker_side", "text"],
  ],
  candles: [
    ...TIME,
    ...(["open", "high", "low", "close", "volume"] as const).map(
      (name) => [name, "number"] as const,
    ),
    ["trades", "integer"],
  ],
  funding: [...TIME, ["rate", "number"], ["mark_price", "number"]],
  fills: [
    ...TIME,
    ["id", "text"],
    ["order_id", "text"],
    ["kind", "text"],
    ["side", "text"],
    ["price", "number"],
    ["size", "number"],
    ["fee_usd", "number"],
    ["pnl_usd", "number"],
    ["role", "text"],
    ["block", "integer"],
  ],
  orders: [
    ["created_at", "text"],
    ["created_ms", "integer"],
    ["symbol", "text"],
    ["order_id", "text"],
    ["client_order_id", "text"],
    ["side", "text"],
    ["type", "text"],
    ["status", "text"],
    ["end_reason", "text"],
    ["price", "number"],
    ["filled_size", "number"],
    ["margin_usd", "number"],
    ["leverage", "integer"],
    ["reduce_only", "boolean"],
    ["post_only", "boolean"],
    ["nonce", "integer"],
    ["updated_ms", "integer"],
  ],
  ledger: [
    ...TIME,
    ["id", "text"],
    ["kind", "text"],
    ["amount_usd", "number"],
    ["balance_usd", "number"],
    ["reference", "text"],
  ],
};

/** Whether rows belong to an account. */
export function isOwn(kind: ExportKind): boolean {
  return kind === "fills" || kind === "orders" || kind === "ledger";
}

/** `withAccount`: of several accounts, whose number comes first. */
export function exportColumns(kind: ExportKind, withAccount = false): readonly ExportColumn[] {
  const columns = COLUMNS[kind].map(([name, type]) => ({ name, type }));
  return withAccount ? [{ name: "account", type: "integer" }, ...columns] : columns;
}
