/** A table that becomes a list of cards on narrow screens. */

import type { ReactNode } from "react";
import { useIsLive } from "../state/use-is-live.js";
import { t } from "../text/texts.js";

export interface DataColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Aligned left; numbers are aligned right. */
  readonly isText?: boolean;
  /** Buttons, which stay in view when the table scrolls sideways. */
  readonly isActions?: boolean;
}

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly DataColumn<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
}

export function DataTable<Row>({ label, columns, rows, keyOf, empty }: Props<Row>) {
  const isLive = useIsLive();
  if (rows === undefined) return <LoadingRows />;
  if (rows.length === 0) {
    return <div className="empty">{isLive ? empty : t.table.notKnown}</div>;
  }
  return (
    <table className="data" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" className={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.title} data-title={column.title} className={classOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf({
  isText = false,
  isActions = false,
}: {
  readonly isText?: boolean;
  readonly isActions?: boolean;
}): string {
  return isActions ? "actions" : isText ? "text" : "";
}

export function LoadingRows() {
  return (
    <div className="loading-rows" aria-busy="true">
      <span className="unseen">{t.words.loading}</span>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}
