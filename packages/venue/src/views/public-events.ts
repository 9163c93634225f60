/** Passes a command's public events, and those that the gateway needs, to a sink in one pass. */
import { EVENT } from "@perpgate/engine";
import type { Trade } from "@perpgate/protocol";
import { eventWords, SEALED, SESSION_CLOSED, TRADED } from "../event-fields.js";
import type { Applied } from "../replica.js";
import { priceOf, sideOf, sizeOf } from "./figures.js";
import { unitsOf, type VenueSource } from "./venue-source.js";

export interface PublicEventSink {
  onTrade(symbol: string, trade: Trade): void;
  onBlock(number: number): void;
  onSessionClosed(session: number): void;
}

/** Must be called while the event log is valid. */
export function emitPublicEvents(
  source: VenueSource,
  { seq, timeMs, events: { words, length } }: Applied,
  sink: PublicEventSink,
): void {
  let trades = 0;
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    const kind = words[at]!;
    if (kind === EVENT.Traded) {
      const ordinal = trades++;
      // Without a resting order it is a transfer, not a public trade.
      if (words[at + TRADED.makerOrderId] === 0) continue;
      const units = unitsOf(source, words[at + TRADED.market]!);
      sink.onTrade(units.symbol, {
        id: `${seq}-${ordinal}`,
        price: priceOf(units, words[at + TRADED.priceTicks]!),
        size: sizeOf(units, words[at + TRADED.lots]!),
        side: sideOf(words[at + TRADED.takerSide]!),
        time: timeMs,
      });
    } else if (kind === EVENT.BlockSealed) {
      sink.onBlock(words[at + SEALED.number]!);
    } else if (kind === EVENT.SessionClosed) {
      sink.onSessionClosed(words[at + SESSION_CLOSED.session]!);
    }
  }
}
