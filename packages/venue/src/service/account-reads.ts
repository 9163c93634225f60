/** What a session may read of its own account. Each read counts against the account's read limit. */

import type { NotesInMaking, RequestHandlers } from "@perpgate/link";
import type { Order, OrdersQuery, PreconfirmProof } from "@perpgate/protocol";
import { ApiError, hexFromBytes, parseOrderId } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import type { Views } from "../views/views.js";
import type { AccountCalls } from "./account-calls.js";
import type { PastLists } from "./past-lists.js";
import { heldPromises } from "./public-reads.js";
import { wallTimeOf } from "./wall-time.js";
import { wholePage } from "./whole-page.js";

type AccountReads = Pick<
  RequestHandlers,
  | "getSessions"
  | "getOrders"
  | "getOrder"
  | "getAccount"
  | "getLiability"
  | "getPositions"
  | "getFills"
  | "getLedger"
  | "getFundingPayments"
  | "getPreconfirm"
  | "getPreconfirmProof"
  | "getDeposits"
  | "getDeposit"
  | "getWithdrawals"
  | "getWithdrawal"
>;

export function accountReads(venue: Venue, calls: AccountCalls, past: PastLists): AccountReads {
  const { views } = venue;
  return {
    getSessions: ({ session: caller }, notes) =>
      calls.run(caller, notes, ({ account }) => ({
        sessions: views.sessions(account).map(({ number, message, expiresAt, ...session }) => ({
          info: {
            id: String(number),
            ...session,
            expiresAt: wallTimeOf(venue, expiresAt),
            current: number === caller,
          },
          message,
        })),
      })),
    getOrders: ({ session, query }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        checkSymbol(venue, query);
        if (readsPast(query)) await venue.history.reached();
        const onRead = noteRows(notes);
        // Open orders are in the store, however old they are.
        if (query.status !== "all") {
          const result = await views.readCounted(onRead, (count) =>
            openOrdersFor(views, account, query, count),
          );
          return { result };
        }
        if (isNamed(query)) {
          return { result: await past.ordersNamed(account, query, query, notes, onRead) };
        }
        const result = await past.orders(account, query, notes);
        notes.rows += result.length;
        return { result };
      }),
    getOrder: ({ session, params: { id: orderId } }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        const id = parseOrderId(orderId);
        const order = id === undefined ? undefined : await past.order(account, id);
        // Also for another account's order.
        if (order === undefined) throw new ApiError("order_not_found", { orderId });
        return { result: order };
      }),
    getAccount: ({ session: number }, notes) =>
      calls.run(number, notes, (live) => {
        const { session, ...account } = views.account(live);
        const expiresAt = wallTimeOf(venue, session.expiresAt);
        return { result: { ...account, session: { ...session, expiresAt } } };
      }),
    getLiability: ({ session }, notes) =>
      calls.run(session, notes, ({ account }) => {
        const liability = venue.reserves?.liability(account);
        if (liability === undefined) throw new ApiError("liability_not_found", {});
        return { result: liability };
      }),
    getPositions: ({ session }, notes) =>
      calls.run(session, notes, ({ account }) => ({ result: views.positions(account) })),
    getFills: ({ session, query }, notes) =>
      calls.runPast(session, notes, async ({ account }) => {
        checkSymbol(venue, query);
        const result = await past.fills(account, query, notes);
        notes.rows += result.length;
        return { result };
      }),
    getLedger: ({ session, query }, notes) =>
      calls.runPast(session, notes, async ({ account }) => {
        checkSymbol(venue, query);
        return { result: await past.ledger(account, query, notes, noteRows(notes)) };
      }),
    getFundingPayments: ({ session, query }, notes) =>
      calls.runPast(session, notes, async ({ account }) => {
        checkSymbol(venue, query);
        const result = await past.fundingPayments(account, query, notes);
        notes.rows += result.length;
        return { result };
      }),
    getPreconfirm: ({ session, params: { ackNonce } }, notes) =>
      calls.run(session, notes, async ({ account }) => ({
        result: await preconfirm(venue, account, ackNonce, noteRows(notes)),
      })),
    getPreconfirmProof: ({ session, params: { ackNonce } }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        await preconfirm(venue, account, ackNonce, noteRows(notes));
        const proof = await heldPromises(venue).orderProof(Number(ackNonce), noteRows(notes));
        if (proof === undefined) throw new ApiError("not_in_checkpoint", { ackNonce });
        return { result: proof };
      }),
    getDeposits: ({ session, query }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        const found = await views.read(() => views.deposits(account, query));
        notes.rows += found.read - found.rows.length;
        return { result: wholePage(found, query) };
      }),
    getDeposit: ({ session, params: { id: depositId } }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        const deposit = await views.read(() => views.deposit(account, Number(depositId)));
        if (deposit === undefined) throw new ApiError("deposit_not_found", { depositId });
        return { result: deposit };
      }),
    getWithdrawals: ({ session, query }, notes) =>
      calls.run(session, notes, async ({ account }) => ({
        result: await views.read(() => views.withdrawals(account, query)),
      })),
    getWithdrawal: ({ session, params: { id: withdrawalId } }, notes) =>
      calls.run(session, notes, async ({ account }) => {
        const id = Number(withdrawalId);
        const withdrawal = await views.read(() => views.withdrawal(account, id));
        if (withdrawal === undefined) throw new ApiError("withdrawal_not_found", { withdrawalId });
        return { result: withdrawal };
      }),
  };
}

function noteRows(notes: NotesInMaking): (rows: number) => void {
  return (rows) => {
    notes.rows += rows;
  };
}

/** The first proof of a block reads all its acknowledgements, and the hashes of its tile. */
async function preconfirm(
  { views, promises }: Venue,
  account: number,
  ackNonce: string,
  onRead: (rows: number) => void,
): Promise<PreconfirmProof> {
  const proof = await views.preconfirm(account, Number(ackNonce), onRead);
  if (proof === undefined) throw new ApiError("preconfirm_not_found", { ackNonce });
  if (proof === "not_sealed") throw new ApiError("not_sealed", { ackNonce });
  const hashes = await promises?.blockPath(proof.block, onRead);
  const path = hashes?.map((hash) => `0x${hexFromBytes(hash)}`);
  const checkpoint = promises?.log.published?.note;
  const isCovered = path !== undefined && checkpoint !== undefined;
  return { ...proof, log: isCovered ? { checkpoint, path } : null };
}

/** A filter by an unknown symbol is a mistake, not an empty list. */
function checkSymbol({ views }: Venue, { symbol }: { readonly symbol?: string }): void {
  if (symbol === undefined || views.marketNumber(symbol) !== undefined) return;
  throw new ApiError("unknown_symbol", { symbol }, { field: "symbol" });
}

/** Whether the orders are not those that are open now, which are in memory. */
function readsPast({ status = "open", nonce, clientOrderId }: OrdersQuery): boolean {
  return status !== "open" || (nonce !== undefined && clientOrderId === undefined);
}

/** Whether it asks for orders by a name. */
function isNamed({ nonce, clientOrderId }: OrdersQuery): boolean {
  return nonce !== undefined || clientOrderId !== undefined;
}

/** Those that are open. `onRead` gets the number of rows that were read: a filter may leave few of them. */
function openOrdersFor(
  views: Views,
  account: number,
  query: OrdersQuery,
  onRead: (rows: number) => void,
): Order[] {
  if (!readsPast(query)) {
    const orders = openOrders(views, account, query);
    onRead(orders.length);
    return inPage(orders, query);
  }
  const { nonce, clientOrderId } = query;
  const found = views.ordersNamed(account, { nonce, clientOrderId, status: "open" }, query);
  onRead(found.read);
  return wholePage(found, query);
}

/** At most one of the open orders has the client's id. */
function openOrders(views: Views, account: number, query: OrdersQuery): Order[] {
  const { clientOrderId, symbol } = query;
  if (clientOrderId === undefined) return views.openOrders(account, symbol);
  const id = views.openOrderNamed(account, clientOrderId);
  const order = id === undefined ? undefined : views.order(account, id);
  return order === undefined ? [] : [order];
}

/** Of lists that are short enough to be read whole; they keep their order. */
function inPage(orders: readonly Order[], query: OrdersQuery): Order[] {
  const { symbol, nonce, before, after, from = 0, to = Number.POSITIVE_INFINITY } = query;
  const low = after === undefined ? 0 : cursorOf(after);
  const high = before === undefined ? Number.POSITIVE_INFINITY : cursorOf(before);
  const { limit = orders.length } = query;
  return orders
    .filter((order) => {
      const id = cursorOf(order.orderId);
      if (symbol !== undefined && order.symbol !== symbol) return false;
      if (nonce !== undefined && order.nonce !== nonce) return false;
      return id > low && id < high && order.createdAt >= from && order.createdAt < to;
    })
    .slice(0, limit);
}

/** An id that no log reaches comes after every order. */
function cursorOf(id: string): number {
  return parseOrderId(id) ?? Number(id);
}
