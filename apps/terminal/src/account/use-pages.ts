/** A list of the account in pages, newest first. */

import type { Session } from "@perpgate/sdk";
import { useEffect, useMemo } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { PagedList, type PageQuery } from "../venue/paged-list.js";

export interface Pages<Row> {
  /** Undefined while the first page is loading. */
  readonly rows: readonly Row[] | undefined;
  readonly hasMore: boolean;
  readonly more: () => void;
}

/** `load` must be the same function in each render. The newest page is read again after each change. */
export function usePages<Row>(
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
  return { rows: list?.rows, hasMore: list?.hasMore ?? false, more };
}
