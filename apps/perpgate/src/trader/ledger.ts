/** `perpgate ledger` and `perpgate sessions`: where the balance comes from, and who is signed in. */

import { type LedgerEntry, PerpgateError, type SessionInfo } from "@perpgate/sdk";
import type { Output } from "../cli/output.js";
import { printable } from "../cli/printable.js";
import { duration, money, signed, time } from "../cli/quantities.js";
import { UsageError } from "../cli/start-error.js";
import { signTone } from "../cli/style.js";
import type { Column } from "../cli/table.js";
import { type TradingVenue, withSession } from "./connection.js";
import type { VenueOptions } from "./venue-command.js";

const DEFAULT_ENTRIES = 20;

interface LedgerOptions extends VenueOptions {
  readonly symbol?: string;
  readonly limit?: number;
  readonly before?: string;
}

export function ledger(options: LedgerOptions): Promise<number> {
  const { symbol, limit = DEFAULT_ENTRIES, before } = options;
  return withSession(options, async ({ session, output }) => {
    const entries = await session.ledger({
      limit,
      ...(symbol === undefined ? {} : { symbol }),
      ...(before === undefined ? {} : { before }),
    });
    output.rows(LEDGER_COLUMNS, entries, "no entries");
    return 0;
  });
}

const LEDGER_COLUMNS: Column<LedgerEntry>[] = [
  { title: "time (UTC)", cell: ({ time: at }) => time(at) },
  { title: "kind", cell: ({ kind }) => kind },
  { title: "symbol", cell: ({ symbol }) => symbol ?? "-" },
  {
    title: "amount",
    align: "right",
    cell: ({ amount }) => ({ text: signed(amount, money), tone: signTone(amount) }),
  },
  { title: "balance", align: "right", cell: ({ balance }) => money(balance) },
  { title: "of", align: "right", cell: ({ reference }) => reference },
  { title: "id", cell: ({ id }) => id },
];

interface SessionsOptions extends VenueOptions {
  readonly end?: readonly string[];
  readonly endOthers?: boolean;
}

export function sessions(options: SessionsOptions): Promise<number> {
  const { end = [], endOthers = false } = options;
  if (end.length > 0 && endOthers) throw new UsageError("give --end or --end-others, not both");
  const wrong = end.find((id) => !/^\d{1,16}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not a session's id`);
  return withSession(options, async (venue) => {
    const { session, output } = venue;
    if (end.length > 0) return endEach(venue, end);
    if (endOthers) showEnded(output, await session.endOtherSessions());
    else output.rows(SESSION_COLUMNS, await session.sessions(), "no sessions");
    return 0;
  });
}

/**
 * One after the other, and prints those that were ended. A session that had ended before fails the command
 * at its end, after the others; any other failure stops it.
 */
async function endEach({ session, output }: TradingVenue, ids: readonly string[]): Promise<number> {
  const ended: string[] = [];
  let failure: unknown;
  for (const id of ids) {
    try {
      await session.endSession(id);
      ended.push(id);
    } catch (error) {
      failure = error;
      if (!(error instanceof PerpgateError && error.code === "session_not_found")) break;
    }
  }
  if (failure === undefined || ended.length > 0) showEnded(output, ended);
  if (failure !== undefined) throw failure;
  return 0;
}

function showEnded(output: Output, ended: readonly string[]): void {
  if (output.isJson) output.json({ ended });
  else output.line(ended.length === 0 ? "nothing to end" : printable(`ended ${ended.join(" ")}`));
}

const SESSION_COLUMNS: Column<SessionInfo>[] = [
  { title: "id", align: "right", cell: ({ id }) => id },
  { title: "this", cell: ({ current }) => (current ? "yes" : "") },
  { title: "domain", cell: ({ domain }) => domain },
  { title: "key", cell: ({ kind, sessionKey }) => `${kind} ${sessionKey.slice(0, 12)}…` },
  {
    title: "limits",
    cell: ({ scope: { maxOrderNotional, maxNotional, symbols } }) =>
      [
        typeof maxOrderNotional === "number" ? `order ${money(maxOrderNotional)}` : "",
        typeof maxNotional === "number" ? `all ${money(maxNotional)}` : "",
        symbols?.join(",") ?? "",
      ]
        .filter(Boolean)
        .join(" ") || "none",
  },
  { title: "ends in", cell: ({ expiresAt }) => duration(expiresAt - Date.now()) },
];
