/**
 * Alerts on prices: each fires once, when mark, index or last price of a market reaches it from the side on
 * which the price was when it was set. They are kept in the browser and shared by its tabs. One tab
 * watches for all, by a lock that it holds until it closes; the others show what it reports.
 *
 * Every frame of a ticker is checked as it arrives: a page in the background draws nothing and has slow
 * timers, but its sockets go on. A price that was reached while the line was down fires with the first
 * frame after, if it is still beyond.
 */

import type { Ticker } from "@perpgate/protocol";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { t } from "../text/texts.js";
import { type MarketView, priceText } from "./market-view.js";

export type AlertSource = "mark" | "index" | "last";

export interface PriceAlert {
  readonly id: string;
  readonly symbol: string;
  readonly source: AlertSource;
  readonly price: number;
  /** Where the price has to go. */
  readonly direction: "up" | "down";
}

export const MOST_ALERTS = 50;

const TABS = "perpgate.alerts";

/** `isHere` if this tab has noticed it, which is the one that notifies. */
type OnFired = (alert: PriceAlert, price: number, isHere: boolean) => void;

export class PriceAlerts {
  readonly list = new Store<readonly PriceAlert[]>(readAlerts() ?? [], "immediate");
  private isWatching = false;
  private tabs: BroadcastChannel | undefined;

  constructor(private readonly onFired: OnFired) {}

  start(): void {
    // Another tab has written.
    window.addEventListener("storage", () => this.list.set(this.stored()));
    this.tabs = new BroadcastChannel(TABS);
    this.tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (!isReport(data)) return;
      this.list.set(this.stored());
      this.onFired(data.alert, data.price, false);
    };
    // A page that was not loaded securely has no locks: there each tab watches.
    const { locks }: Partial<Navigator> = navigator;
    if (locks === undefined) this.watch();
    else void locks.request(TABS, () => new Promise(() => this.watch()));
  }

  /** Each ticker is passed to `check` from now on. */
  watch(): void {
    this.isWatching = true;
  }

  /** Whether there was room for it. */
  add(alert: Omit<PriceAlert, "id">): boolean {
    const stored = this.stored();
    if (stored.length >= MOST_ALERTS) return false;
    this.write([...stored, { ...alert, id: crypto.getRandomValues(new Uint32Array(2)).join("-") }]);
    return true;
  }

  remove(id: string): void {
    this.write(this.stored().filter((alert) => alert.id !== id));
  }

  check(ticker: Pick<Ticker, "symbol" | AlertSource>): void {
    if (!this.isWatching) return;
    for (const alert of this.list.get()) {
      const price = ticker[alert.source];
      if (alert.symbol !== ticker.symbol || price === null) continue;
      if (alert.direction === "up" ? price < alert.price : price > alert.price) continue;
      // Removed in another tab at this moment.
      const isLive = this.stored().some(({ id }) => id === alert.id);
      this.remove(alert.id);
      if (!isLive) continue;
      this.onFired(alert, price, true);
      this.tabs?.postMessage({ alert, price });
    }
  }

  /** Where the browser forbids storage, what this tab knows. */
  private stored(): readonly PriceAlert[] {
    return readAlerts() ?? this.list.get();
  }

  private write(alerts: readonly PriceAlert[]): void {
    writePreference("alerts", JSON.stringify(alerts));
    this.list.set(alerts);
  }
}

/** Such as "BTCUSD mark rises to 65,000.0". */
export function alertText(
  { symbol, source, price, direction }: PriceAlert,
  view: MarketView | undefined,
): string {
  const text = direction === "up" ? t.alerts.rises : t.alerts.falls;
  return text(symbol, t.words.sourcesInSentence[source], priceText(view, price));
}

function readAlerts(): readonly PriceAlert[] | undefined {
  const text = readPreference("alerts");
  if (text === undefined) return undefined;
  try {
    const kept: unknown = JSON.parse(text);
    return Array.isArray(kept) ? kept.filter(isAlert).slice(0, MOST_ALERTS) : [];
  } catch {
    // Not written by this page.
    return [];
  }
}

function isAlert(value: unknown): value is PriceAlert {
  if (typeof value !== "object" || value === null) return false;
  const { id, symbol, source, price, direction } = value as Partial<PriceAlert>;
  return (
    typeof id === "string" &&
    typeof symbol === "string" &&
    (source === "mark" || source === "index" || source === "last") &&
    typeof price === "number" &&
    (direction === "up" || direction === "down")
  );
}

function isReport(value: unknown): value is { readonly alert: PriceAlert; readonly price: number } {
  if (typeof value !== "object" || value === null || !("alert" in value)) return false;
  return isAlert(value.alert) && "price" in value && typeof value.price === "number";
}
