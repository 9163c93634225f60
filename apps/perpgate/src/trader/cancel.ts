/** `perpgate cancel`: orders by their ids, or all, or all of one market. */

import { type CanceledOrder, PerpgateError } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { UsageError } from "../cli/start-error.js";
import { orderNamed } from "../cli/values.js";
import { type SendingVenue, withSender } from "./sender.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface CancelOptions extends VenueCommandOptions {
  readonly all?: boolean;
  readonly symbol?: string;
}

export async function cancelCommand(
  ids: readonly string[],
  options: CancelOptions,
): Promise<number> {
  const { all = false, symbol } = options;
  if (all) {
    if (ids.length > 0) throw new UsageError("give order ids or --all, not both");
    return withSender(options, (venue) => cancelAll(venue, symbol));
  }
  if (ids.length === 0) throw new UsageError("<order id> is missing");
  if (symbol !== undefined) throw new UsageError("--symbol needs --all");
  for (const id of ids) orderNamed(id);
  return withSender(options, (venue) => cancelEach(venue, ids));
}

async function cancelAll(
  { session, output, sender, hint }: SendingVenue,
  symbol: string | undefined,
): Promise<number> {
  const what = symbol === undefined ? "cancel --all" : `cancel --all --symbol ${symbol}`;
  const { canceled } = await sender.send({ what, settle: `ask: ${hint("orders")}` }, (call) =>
    session.cancelAll(symbol === undefined ? call : { symbol, ...call }),
  );
  if (output.isJson) output.json({ canceled });
  else if (canceled.length === 0) output.line("nothing to cancel");
  else output.line(printable(`canceled ${canceled.join(" ")}`));
  return 0;
}

/** Canceled by an earlier try, filled or triggered meanwhile. */
const NO_LONGER_OPEN: ReadonlySet<string> = new Set(["order_not_cancelable", "order_not_found"]);

function isNoLongerOpen(error: unknown): boolean {
  return error instanceof PerpgateError && NO_LONGER_OPEN.has(error.code);
}

/** If no answer comes, the open orders tell what became of it. */
export function cancelOne(
  { session, sender, hint }: Pick<SendingVenue, "session" | "sender" | "hint">,
  id: string,
): Promise<CanceledOrder> {
  const sent = { what: `cancel ${id}`, settle: `ask: ${hint("orders")}` };
  return sender.send(sent, (call) => session.cancelOrder(orderNamed(id), call));
}

/**
 * One after the other, and prints those that were canceled. An order that is no longer open fails the
 * command at its end, after the others; any other failure stops it.
 */
export async function cancelEach(
  venue: Pick<SendingVenue, "session" | "output" | "sender" | "hint">,
  ids: readonly string[],
): Promise<number> {
  const { output } = venue;
  const done: CanceledOrder[] = [];
  let failure: unknown;
  for (const id of ids) {
    try {
      const canceled = await cancelOne(venue, id);
      done.push(canceled);
      if (!output.isJson) {
        const { orderId, remainingSize } = canceled;
        output.line(printable(`canceled ${orderId}, ${remainingSize} was open`));
      }
    } catch (error) {
      failure = error;
      if (!isNoLongerOpen(error)) break;
    }
  }
  if (output.isJson && done.length > 0) {
    output.json({ canceled: done.map(({ orderId }) => orderId) });
  }
  if (failure !== undefined) throw failure;
  return 0;
}
