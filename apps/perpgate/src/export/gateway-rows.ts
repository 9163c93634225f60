/** Rows of a gateway's lists for an export, oldest first, page by page: the same as those of a folder. */

import type { PerpgateClient, Session } from "@perpgate/sdk";
import type { ExportQuery, ExportRow } from "@perpgate/venue";

const PAGE = 1_000;
/** Before every entry of a list. */
const BEGINNING = "0";

interface Span {
  readonly limit: number;
  readonly from: number;
  readonly to: number;
}

/** Market by market, as they are listed. */
export async function* publicRows(
  client: PerpgateClient,
  query: ExportQuery,
): AsyncGenerator<ExportRow> {
  const listed = (await client.markets()).map(({ symbol }) => symbol);
  const symbols = query.symbol === undefined ? listed : [query.symbol];
  for (const symbol of symbols) yield* marketRows(client, symbol, query);
}

async function* marketRows(
  client: PerpgateClient,
  symbol: string,
  query: ExportQuery,
): AsyncGenerator<ExportRow> {
  const span = spanOf(query);
  const firstTime = Math.max(0, query.fromMs - 1);
  const { resolution, price } = query;
  if (query.kind === "trades") {
    const read = (after: string) => client.trades(symbol, { ...span, after });
    for await (const { time, id, price: at, size, side } of paged(read, BEGINNING, idOf)) {
      yield [isoOf(time), time, symbol, id, at, size, side];
    }
  } else if (query.kind === "candles") {
    const read = (after: number) => client.candles(symbol, { ...span, after, resolution, price });
    for await (const candle of paged(read, firstTime, timeOf)) {
      const { time, open, high, low, close, volume, trades } = candle;
      yield [isoOf(time), time, symbol, open, high, low, close, volume, trades];
    }
  } else {
    const read = (after: number) => client.funding(symbol, { ...span, after });
    for await (const { time, rate, markPrice } of paged(read, firstTime, timeOf)) {
      yield [isoOf(time), time, symbol, rate, markPrice];
    }
  }
}

/** The account of the session; funding that is not booked yet is left out. */
export async function* ownRows(session: Session, query: ExportQuery): AsyncGenerator<ExportRow> {
  const { symbol } = query;
  const span = { ...spanOf(query), ...(symbol === undefined ? {} : { symbol }) };
  if (query.kind === "fills") {
    const read = (after: string) => session.fills({ ...span, after });
    for await (const fill of paged(read, BEGINNING, idOf)) {
      const { time, id, orderId, kind, side, price, size, fee, realizedPnl, liquidity } = fill;
      const terms = [kind, side, price, size, fee, realizedPnl, liquidity, fill.block];
      yield [isoOf(time), time, fill.symbol, id, orderId, ...terms];
    }
  } else if (query.kind === "orders") {
    const read = (after: string) => session.orders({ ...span, after, status: "all" });
    for await (const order of paged(read, BEGINNING, ({ orderId }) => orderId)) {
      const { createdAt, orderId, clientOrderId, side, type, status, reason, price } = order;
      const { filledSize, margin, leverage, reduceOnly, postOnly, nonce, updatedAt } = order;
      const names = [isoOf(createdAt), createdAt, order.symbol, orderId, clientOrderId];
      const end = [reduceOnly, postOnly, nonce, updatedAt];
      const terms = [side, type, status, reason, price, filledSize, margin, leverage];
      yield [...names, ...terms, ...end];
    }
  } else {
    const read = (after: string) => session.ledger({ ...span, after });
    for await (const entry of paged(read, BEGINNING, idOf)) {
      const { time, id, kind, amount, balance, reference } = entry;
      yield [isoOf(time), time, entry.symbol, id, kind, amount, balance, reference];
    }
  }
}

/** All entries of a list after `first`; memory holds one page. */
async function* paged<Entry, Id>(
  read: (after: Id) => Promise<readonly Entry[]>,
  first: Id,
  id: (entry: Entry) => Id,
): AsyncGenerator<Entry> {
  for (let after = first; ; ) {
    const page = await read(after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = id(last);
  }
}

function spanOf({ fromMs, toMs }: ExportQuery): Span {
  return { limit: PAGE, from: fromMs, to: toMs };
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

function timeOf({ time }: { readonly time: number }): number {
  return time;
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
