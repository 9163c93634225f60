/** Warns once when a position comes close to its liquidation, and again after it had been safe. */

import { formatFixed, formatPercent } from "../format/numbers.js";
import { warningRatio } from "../state/user-settings.js";
import { t } from "../text/texts.js";
import type { Toasts } from "../ui/toasts.js";
import type { AccountFeed } from "./account-feed.js";
import { livePosition, type MarkSources } from "./live-position.js";
import { priceText } from "./market-view.js";

/** A ratio that moves around the bound warns once. */
const SAFE_SHARE = 0.9;

interface RiskSources extends MarkSources {
  readonly account: Pick<AccountFeed, "positions">;
}

export class RiskWatch {
  private readonly warned = new Set<string>();

  constructor(
    private readonly sources: RiskSources,
    private readonly toasts: Pick<Toasts, "show">,
  ) {}

  check(): void {
    const positions = this.sources.account.positions.get();
    for (const symbol of this.warned)
      if (positions?.has(symbol) !== true) this.warned.delete(symbol);
    const bound = warningRatio();
    for (const position of positions?.values() ?? []) {
      const { symbol, liquidationPrice } = position;
      const { ratio, distance } = livePosition(this.sources, position);
      if (ratio < bound * SAFE_SHARE) this.warned.delete(symbol);
      if (ratio < bound || this.warned.has(symbol)) continue;
      this.warned.add(symbol);
      const price = priceText(this.sources.marketFeed.view(symbol), liquidationPrice);
      const away =
        distance === null
          ? ""
          : ` ${t.notices.markAway(formatPercent(Math.abs(distance), 2).replace("+", ""), price)}`;
      const text = `${t.notices.marginRatio(formatFixed(ratio * 100, 1))}${away}`;
      this.toasts.show("alarm", t.notices.closeToLiquidation(symbol), text, `risk ${symbol}`);
    }
  }
}
