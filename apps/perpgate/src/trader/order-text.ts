/** Acknowledgements and results of batches as text. */

import type { BatchAnswer, BatchResult, PlacedOrder, Replayable } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { fee, latency, money, signed } from "../cli/quantities.js";
import { signTone } from "../cli/style.js";
import type { TableCell } from "../cli/table.js";
import type { TradingVenue } from "./connection.js";
import type { MarketFormat } from "./market-format.js";
import { withoutPaths } from "./venue-failure.js";

/** The acknowledgement of an order or an amendment, as text. */
export function show(
  { output }: Pick<TradingVenue, "output">,
  type: string,
  ack: PlacedOrder,
  format: MarketFormat,
  elapsedHereMs: number,
): void {
  const tone = ack.status === "canceled" ? "bad" : "good";
  output.line(`${output.paint(printable(ack.status), tone)}  ${sentence(type, ack, format)}`);
  output.list([
    ["order", ack.replayed ? `${ack.orderId} (placed by an earlier try)` : ack.orderId],
    ...exitLines(ack),
    ["fee", fee(ack.feePaid)],
    ["position", positionCell(ack, format)],
    ["block", String(ack.expectedBlock)],
    ["latency", `${latency(ack.elapsedMs)} at the gateway, ${latency(elapsedHereMs)} from here`],
  ]);
}

/** The exits that the order was sent with: their ids, for `amend` and `cancel`. */
function exitLines({ exits = [] }: PlacedOrder): [string, string][] {
  return exits.map(({ orderId, kind }) => [
    kind === "takeProfit" ? "take-profit" : "stop-loss",
    printable(orderId),
  ]);
}

function sentence(type: string, ack: PlacedOrder, { size, price, base }: MarketFormat): string {
  const { side, filledSize, remainingSize, avgFillPrice, status, reason, symbol } = ack;
  const verb = side === "long" ? "bought" : "sold";
  const filled = `${verb} ${size(filledSize)} ${base} at ${price(avgFillPrice)}`;
  const left = `${size(remainingSize)} ${base}`;
  const parts = filledSize > 0 ? [filled] : [];
  if (status === "resting") parts.push(`${left} waits in the book`);
  if (status === "pending") {
    // One that closes the position has no size of its own.
    parts.push(`${remainingSize === 0 ? "the whole position" : left} waits for its trigger`);
  }
  if (status === "canceled") {
    const why = reason === null ? "" : `: ${reason.replaceAll("_", " ")}`;
    parts.push(`${left} was not filled${why}`);
  }
  return printable(`${parts.join(", ")} (${symbol}, ${type})`);
}

function positionCell(ack: PlacedOrder, { size, price, base }: MarketFormat): TableCell {
  const { size: held, avgEntry, unrealizedPnl } = ack.positionAfter;
  if (held === 0) return "flat";
  const side = held > 0 ? "long" : "short";
  const pnl = signed(unrealizedPnl, money);
  const text = `${side} ${size(Math.abs(held))} ${base} from ${price(avgEntry)}, unrealised ${pnl}`;
  return { text, tone: signTone(unrealizedPnl) };
}

/** The results of a batch: one document, or a line for each operation; `names` are what they are called. */
export function showResults(
  { output }: Pick<TradingVenue, "output">,
  names: readonly string[],
  { results, replayed }: Replayable<BatchAnswer>,
  format: MarketFormat,
): void {
  if (output.isJson) {
    output.json({ results: results.map(forShell), replayed });
    return;
  }
  results.forEach(({ ack, canceled, error }, index) => {
    const name = names[index] ?? "";
    if (ack !== undefined) {
      output.line(`${printable(ack.status)}  ${sentence(name, { ...ack, replayed }, format)}`);
    } else if (canceled !== undefined) {
      output.line(printable(`canceled  ${canceled.orderId} (${name})`));
    } else {
      const message = printable(withoutPaths(error?.message ?? ""));
      output.line(`${output.paint("refused", "bad")}  ${message} (${name})`);
    }
  });
}

function forShell({ error, ...result }: BatchResult): BatchResult {
  if (error === undefined) return result;
  return { ...result, error: { ...error, message: withoutPaths(error.message) } };
}
