/** The largest margin, in micros, that a wallet carries together with the taker fee on it. */

import { mulDivCeil, mulDivFloor } from "@perpgate/protocol/core";
import { PPM } from "./market-units.js";
import { MAX_NOTIONAL_MICROS } from "./order-preview.js";

export function largestMargin(walletMicros: number, leverage: number, takerPpm: number): number {
  if (walletMicros <= 0) return 0;
  const fits = (margin: number): boolean =>
    margin + mulDivCeil(margin * leverage, takerPpm, PPM) <= walletMicros;
  let margin = Math.min(
    mulDivFloor(walletMicros, PPM, PPM + leverage * takerPpm) + 1,
    Math.floor(MAX_NOTIONAL_MICROS / leverage),
  );
  // The fee is rounded up, so the closed form may be a micro or two too high.
  while (margin > 0 && !fits(margin)) margin--;
  return margin;
}
