/** A list of the account in pages, newest first. */

import type { Session } from "@perpgate/sdk";
import { useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";

const PAGE = 50;

export interface PageQuery {
  readonly limit: number;
  readonly before?: string;
}

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
  const account = useStore(terminal.account.account);
  const [state, setState] = useState<{ rows: readonly Row[]; hasMore: boolean }>();
  const isLoading = useRef(false);
  const read = useCallback(
    async (before?: string) => {
      const { session } = terminal.sessions;
      if (session === undefined || isLoading.current) return;
      isLoading.current = true;
      try {
        const query = before === undefined ? { limit: PAGE } : { limit: PAGE, before };
        const page = await load(session, query);
        const isFull = page.length === PAGE;
        setState((known) => joined(known, page, isFull, before !== undefined, idOf));
      } catch (error) {
        terminal.report(error);
      } finally {
        isLoading.current = false;
      }
    },
    [terminal, load, idOf],
  );
  useEffect(() => {
    if (account !== undefined) void read();
  }, [account, read]);
  const oldest = state?.rows.at(-1);
  const more = () => {
    if (oldest !== undefined) void read(idOf(oldest));
  };
  return { rows: state?.rows, hasMore: state?.hasMore ?? false, more };
}

function joined<Row>(
  known: { rows: readonly Row[]; hasMore: boolean } | undefined,
  page: readonly Row[],
  isFull: boolean,
  isOlder: boolean,
  idOf: (row: Row) => string,
): { rows: readonly Row[]; hasMore: boolean } {
  if (known === undefined) return { rows: page, hasMore: isFull };
  const ids = new Set(page.map(idOf));
  const others = known.rows.filter((row) => !ids.has(idOf(row)));
  if (isOlder) return { rows: [...others, ...page], hasMore: isFull };
  // A gap between the newest page and what is known: begin again.
  if (isFull && others.length === known.rows.length) return { rows: page, hasMore: true };
  return { rows: [...page, ...others], hasMore: known.hasMore };
}
