/** A table of a list that is read in pages: of one market or all, also as a CSV file. */

import type { Session } from "@perpgate/sdk";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { PagedList, type PageQuery } from "../venue/paged-list.js";
import { ActionButton } from "./action-button.js";
import { saveCsv } from "./csv.js";
import { type DataColumn, DataTable } from "./data-table.js";

/** A list of the account in pages, newest first. */
interface Pages<Row> {
  /** Undefined while the first page is loading. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  /** Whether it ends because the venue keeps nothing older. */
  readonly isCut: boolean;
  readonly more: () => void;
}

/** `load` must be the same function in each render. The newest page is read again after each change. */
function usePages<Row>(
  load: (session: Session, query: PageQuery) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): Pages<Row> {
  const terminal = useTerminal();
  const pages = useMemo(() => {
    const read = async (query: PageQuery) => {
      const { session } = terminal.sessions;
      return session === undefined ? [] : load(session, query);
    };
    return new PagedList(read, idOf);
  }, [terminal, load, idOf]);
  useEffect(() => {
    pages.start();
    const stop = terminal.account.account.watch(() => pages.reload());
    return () => {
      stop();
      pages.close();
    };
  }, [terminal, pages]);
  const list = useStore(pages.list);
  const more = () => {
    pages.more().catch((error: unknown) => terminal.report(error));
  };
  const { rows, hasMore = false, isCut = false } = list ?? {};
  return { rows, hasMore, isCut, more };
}

export interface ListQuery extends PageQuery {
  readonly symbol?: string;
}

interface Props<Row extends object, Shown> {
  readonly label: string;
  /** The name of its CSV file, in any language. */
  readonly file: string;
  readonly empty: string;
  readonly columns: readonly DataColumn<Shown>[];
  /** `load`, `idOf` and `show` must be the same functions in each render. */
  readonly load: (session: Session, query: ListQuery) => Promise<readonly Row[]>;
  readonly idOf: (row: Row) => string;
  /** What of the loaded rows is shown. */
  readonly show: (rows: readonly Row[]) => readonly Shown[];
  readonly keyOf: (row: Shown) => string;
  /** Said while there are older rows. */
  readonly partly?: string;
  /** Controls next to the filter. */
  readonly children?: ReactNode;
}

export function PagedDataTable<Row extends object, Shown>(props: Props<Row, Shown>) {
  const { label, file, empty, columns, load, idOf, show, keyOf, partly, children } = props;
  const terminal = useTerminal();
  const [symbol, setSymbol] = useState("");
  const loadShown = useCallback(
    (session: Session, query: PageQuery) =>
      load(session, symbol === "" ? query : { ...query, symbol }),
    [load, symbol],
  );
  const { rows, hasMore, isCut, more } = usePages(loadShown, idOf);
  const save = () =>
    terminal.attempt((session) =>
      saveCsv(terminal, file, (query) => loadShown(session, query), idOf),
    );
  return (
    <>
      <div className="table-bar start">
        {children}
        <MarketFilter symbol={symbol} onChoose={setSymbol} />
        <ActionButton label={t.table.saveCsv(label)} busyText={t.words.reading} act={save}>
          CSV
        </ActionButton>
      </div>
      <DataTable
        label={label}
        columns={columns}
        rows={rows === undefined ? undefined : show(rows)}
        keyOf={keyOf}
        empty={symbol === "" ? empty : t.table.nothingIn(symbol)}
      />
      {hasMore && (
        <div className="table-bar">
          {partly !== undefined && <span className="faint">{partly}</span>}
          <button type="button" className="button small" onClick={more}>
            {t.table.older}
          </button>
        </div>
      )}
      {isCut && <p className="table-bar start faint">{t.table.keptNoLonger}</p>}
    </>
  );
}

interface FilterProps {
  readonly symbol: string;
  readonly onChoose: (symbol: string) => void;
}

function MarketFilter({ symbol, onChoose }: FilterProps) {
  const markets = useStore(useTerminal().marketFeed.markets) ?? [];
  return (
    <label>
      <span className="unseen">{t.table.market}</span>
      <select className="choice" value={symbol} onChange={({ target }) => onChoose(target.value)}>
        <option value="">{t.table.allMarkets}</option>
        {markets.map(({ market }) => (
          <option key={market.symbol} value={market.symbol}>
            {market.symbol}
          </option>
        ))}
      </select>
    </label>
  );
}
