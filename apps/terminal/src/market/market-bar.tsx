/** The shown market: switcher, mark, index, 24-hour figures, funding and its countdown. */

import type { Ticker } from "@perpgate/protocol";
import { type ReactNode, useEffect, useState } from "react";
import { formatPercent, NO_VALUE, percentTone, toneOf } from "../format/numbers.js";
import { formatCountdown } from "../format/text.js";
import { type Store, useStore } from "../state/store.js";
import { useIsLive } from "../state/use-is-live.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import { interestText, volumeText } from "./market-figures.js";
import { MarketSwitcher } from "./market-switcher.js";
import "./market-bar.css";

/** Narrow windows scroll the figures horizontally; a tab stop makes them reachable by keyboard. */
const scrolled = () =>
  ({ role: "group", "aria-label": t.market.figuresLabel, tabIndex: 0 }) as const;

export function MarketBar() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  return (
    <section className="market-bar" aria-label={t.market.label}>
      <MarketSwitcher />
      {view !== undefined && <LastPrice key={view.market.symbol} view={view} />}
      <div className="figures-scroll" {...scrolled()}>
        {view === undefined ? <BarSkeleton /> : <Figures key={view.market.symbol} view={view} />}
      </div>
    </section>
  );
}

function BarSkeleton() {
  const { mark, index } = t.words.sources;
  return (
    <dl className="figures">
      {[mark, index, t.market.change, t.market.volume, t.market.funding].map((label) => (
        <Figure key={label} label={label}>
          <span className="skeleton" />
        </Figure>
      ))}
    </dl>
  );
}

function Figures({ view }: { readonly view: MarketView }) {
  const { marketFeed } = useTerminal();
  const ticker = marketFeed.ticker(view.market.symbol);
  return (
    <dl className="figures">
      <Figure label={t.words.mark}>
        <Price view={view} ticker={ticker} of={markOf} />
      </Figure>
      <Figure label={t.words.sources.index}>
        <Price view={view} ticker={ticker} of={indexOf} />
      </Figure>
      <Change ticker={ticker} />
      <Figure label={t.market.high}>
        <Price view={view} ticker={ticker} of={highOf} />
      </Figure>
      <Figure label={t.market.low}>
        <Price view={view} ticker={ticker} of={lowOf} />
      </Figure>
      <Volume view={view} ticker={ticker} />
      <Funding ticker={ticker} />
    </dl>
  );
}

interface TickerProps {
  readonly ticker: Store<Ticker | undefined>;
}

function LastPrice({ view }: { readonly view: MarketView }) {
  const { marketFeed } = useTerminal();
  const ticker = marketFeed.ticker(view.market.symbol);
  const last = useStore(ticker, lastOf);
  const change = useStore(ticker, changeOf);
  const isLive = useIsLive();
  const text = priceText(view, last);
  // In a tab nothing else shows that the price is old.
  const titled = isLive ? text : t.market.notLive;
  useEffect(() => {
    document.title = `${titled} ${view.market.symbol} · Perpgate`;
  }, [titled, view]);
  return (
    <div className={`last-price ${toneOf(change)}`}>
      <span className="unseen">{t.market.lastPrice} </span>
      {last === undefined ? <span className="skeleton" /> : text}
      {view.market.status !== "active" && (
        <span className="chip bad">{t.market.status[view.market.status]}</span>
      )}
    </div>
  );
}

interface PriceProps extends TickerProps {
  readonly view: MarketView;
  readonly of: (ticker: Ticker | undefined) => number | null | undefined;
}

function Price({ view, ticker, of }: PriceProps) {
  const price = useStore(ticker, of);
  if (price === undefined) return <span className="skeleton" />;
  return <>{priceText(view, price)}</>;
}

function Change({ ticker }: TickerProps) {
  const change = useStore(ticker, changeOf);
  return (
    <Figure label={t.market.change}>
      <span className={percentTone(change)}>{formatPercent(change)}</span>
    </Figure>
  );
}

function Volume({ view, ticker }: TickerProps & { readonly view: MarketView }) {
  const volume = useStore(ticker, (value) => volumeText(view, value));
  const interest = useStore(ticker, (value) => interestText(view, value));
  return (
    <>
      <Figure label={t.market.volume}>{volume}</Figure>
      <Figure label={t.market.openInterest}>{interest}</Figure>
    </>
  );
}

function Funding({ ticker }: TickerProps) {
  const rate = useStore(ticker, (value) => value?.fundingRate);
  const nextAt = useStore(ticker, (value) => value?.nextFundingAt);
  return (
    <Figure label={t.market.fundingCountdown}>
      <span className={percentTone(rate, 4)}>{formatPercent(rate, 4)}</span>{" "}
      <span className="soft">{nextAt === undefined ? NO_VALUE : <Countdown to={nextAt} />}</span>
    </Figure>
  );
}

function Countdown({ to }: { readonly to: number }) {
  const { clock } = useTerminal();
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(clock.now()), 1_000);
    return () => clearInterval(timer);
  }, [clock]);
  return <>{now === undefined ? NO_VALUE : formatCountdown(to - now)}</>;
}

function Figure({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="figure">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const markOf = (ticker: Ticker | undefined) => ticker?.mark;
const indexOf = (ticker: Ticker | undefined) => ticker?.index;
const highOf = (ticker: Ticker | undefined) => ticker?.high24h;
const lowOf = (ticker: Ticker | undefined) => ticker?.low24h;
const changeOf = (ticker: Ticker | undefined) => ticker?.change24h;
/** The mark before the first trade. */
const lastOf = (ticker: Ticker | undefined) =>
  ticker === undefined ? undefined : (ticker.last ?? ticker.mark);
