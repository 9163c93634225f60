/** `perpgate sessions`: who is signed in. */

import { PerpgateError, type SessionInfo } from "@perpgate/sdk";
import type { Output } from "../cli/output.js";
import { printable } from "../cli/printable.js";
import { duration, money } from "../cli/quantities.js";
import { UsageError } from "../cli/start-error.js";
import { type Column, left, right } from "../cli/table.js";
import { type TradingVenue, withSession } from "./connection.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface SessionsOptions extends VenueCommandOptions {
  readonly end?: readonly string[];
  readonly endOthers?: boolean;
}

export function sessionsCommand(options: SessionsOptions): Promise<number> {
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
  right("id", ({ id }) => id),
  left("this", ({ current }) => (current ? "yes" : "")),
  left("domain", ({ domain }) => domain),
  left("key", ({ kind, sessionKey }) => `${kind} ${sessionKey.slice(0, 12)}…`),
  left(
    "limits",
    ({ scope: { maxOrderNotional, maxNotional, symbols } }) =>
      [
        typeof maxOrderNotional === "number" ? `order ${money(maxOrderNotional)}` : "",
        typeof maxNotional === "number" ? `all ${money(maxNotional)}` : "",
        symbols?.join(",") ?? "",
      ]
        .filter(Boolean)
        .join(" ") || "none",
  ),
  left("ends in", ({ expiresAt }) => duration(expiresAt - Date.now())),
];
