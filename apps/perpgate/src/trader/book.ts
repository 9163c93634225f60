/**
 * `perpgate book`: a market's book as a ladder. In a terminal it is redrawn in place as it changes;
 * elsewhere, and with `--once`, it is printed.
 *
 * The live book is the SDK's mirror, checked by sequence number and checksum. After a gap the SDK
 * loads it again, and nothing is drawn until then.
 */

import type { Market, MirroredBook, PerpgateClient, Ticker } from "@perpgate/sdk";
import { ladderLines, type PrintedBook } from "../cli/ladder.js";
import type { Output } from "../cli/output.js";
import { percent, time } from "../cli/quantities.js";
import { StartError } from "../cli/start-error.js";
import { type VenueAccess, withVenue } from "./connection.js";
import { Interruption } from "./interruption.js";
import { formatOf, type MarketFormat } from "./market-format.js";
import type { VenueCommandOptions } from "./venue-command.js";

const DEFAULT_DEPTH = 10;
const REDRAW_MS = 100;
const PRINT_MS = 1_000;
const BAR_COLUMNS = 24;
/** Title, heading, spread and foot, and a line for the cursor. */
const OTHER_LINES = 6;

interface BookView {
  readonly output: Output;
  readonly symbol: string;
  readonly depth: number;
  readonly format: MarketFormat;
}

interface BookOptions extends VenueCommandOptions {
  readonly depth?: number;
  readonly once?: boolean;
}

export function book(symbol: string, options: BookOptions): Promise<number> {
  const { depth = DEFAULT_DEPTH, once: isOnce = false } = options;
  return withVenue(options, async (venue) => {
    const view = { output: venue.output, symbol, depth, format: await listed(venue, symbol) };
    return isOnce ? once(venue.client, view) : live(venue.client, view);
  });
}

async function listed({ client }: VenueAccess, symbol: string): Promise<MarketFormat> {
  const markets = await client.markets();
  const market = markets.find((candidate: Market) => candidate.symbol === symbol);
  if (market !== undefined) return formatOf(market);
  const known = markets.map((candidate) => candidate.symbol).join(", ");
  throw new StartError(`no market ${symbol}; there are ${known}`);
}

async function once(client: PerpgateClient, view: BookView): Promise<number> {
  const { output, symbol, depth } = view;
  const snapshot = await client.book(symbol, { depth });
  if (output.isJson) output.json(snapshot);
  else {
    const ticker = await client.ticker(symbol);
    for (const line of pageLines(view, snapshot, ticker, 0)) output.line(line);
  }
  return 0;
}

async function live(client: PerpgateClient, view: BookView): Promise<number> {
  const { output, symbol } = view;
  const interruption = new Interruption();
  const screen = output.canRedraw ? new Screen() : undefined;
  let latest: MirroredBook | undefined;
  let ticker: Ticker | undefined;
  let shownSeq = -1;
  const show = () => {
    if (latest === undefined || (screen === undefined && latest.seq === shownSeq)) return;
    shownSeq = latest.seq;
    if (output.isJson) output.json(jsonOf(view, latest));
    else if (screen === undefined) printPage(view, latest, ticker);
    else screen.draw(screenLines(view, latest, ticker, screen));
  };
  const { stream } = client;
  const watch = stream.watchBook(symbol, (mirror) => {
    const isFirst = latest === undefined;
    latest = mirror;
    if (isFirst) show();
  });
  stream.watchTicker(symbol, (value) => {
    ticker = value;
  });
  const timer = setInterval(show, screen === undefined ? PRINT_MS : REDRAW_MS);
  try {
    await Promise.race([interruption.wait(), watch.ready.then(() => interruption.wait())]);
  } finally {
    clearInterval(timer);
    interruption.end();
    screen?.end();
  }
  return 0;
}

function levelsOf(mirror: MirroredBook, depth: number): PrintedBook {
  return { bids: mirror.bids(depth), asks: mirror.asks(depth) };
}

function jsonOf({ symbol, depth }: BookView, mirror: MirroredBook) {
  return { symbol, seq: mirror.seq, time: mirror.time, ...levelsOf(mirror, depth) };
}

function printPage(view: BookView, mirror: MirroredBook, ticker: Ticker | undefined): void {
  const page = pageLines(view, levelsOf(mirror, view.depth), ticker, 0);
  for (const line of [...page, `seq ${mirror.seq}  ${time(mirror.time)} UTC`, ""]) {
    view.output.line(line);
  }
}

function screenLines(
  view: BookView,
  mirror: MirroredBook,
  ticker: Ticker | undefined,
  { rows }: Screen,
): string[] {
  const fitting = Math.max(1, Math.floor((rows - OTHER_LINES) / 2));
  const depth = Math.min(view.depth, fitting);
  const state = mirror.live ? "live" : "not connected, trying again";
  const foot = `${state}  seq ${mirror.seq}  ${time(mirror.time)} UTC  Ctrl-C ends`;
  const page = pageLines(view, levelsOf(mirror, depth), ticker, BAR_COLUMNS);
  return [...page, view.output.paint(foot, "dim")];
}

function pageLines(
  { output, symbol, format }: BookView,
  book: PrintedBook,
  ticker: Ticker | undefined,
  barWidth: number,
): string[] {
  const { paint } = output;
  const { price, size } = format;
  const facts =
    ticker === undefined
      ? ""
      : `  mark ${price(ticker.mark)}  index ${price(ticker.index)}` +
        `  last ${price(ticker.last)}  funding ${percent(ticker.fundingRate)}/h`;
  return [
    `${paint(symbol, "strong")}${facts}`,
    ...ladderLines(book, { price, size, paint, barWidth }),
  ];
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** Cuts lines at the width of the terminal; a wrapped line would shift the rest. */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_LINE = "\x1b[K";

/** Redraws lines in place. Hides the cursor until `end`, or until the process exits. */
class Screen {
  private drawn = 0;
  private readonly restore = () => {
    process.stdout.write(WRAP + SHOW_CURSOR);
  };

  constructor() {
    process.stdout.write(HIDE_CURSOR + NO_WRAP);
    process.once("exit", this.restore);
  }

  get rows(): number {
    return process.stdout.rows ?? 24;
  }

  /** Draws no more lines than the terminal has: lines that scroll cannot be redrawn. */
  draw(lines: readonly string[]): void {
    const visible = lines.slice(0, Math.max(1, this.rows - 1));
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A\r` : "";
    const text = visible.map((line) => `${line}${CLEAR_LINE}\n`).join("");
    process.stdout.write(up + text + CLEAR_BELOW);
    this.drawn = visible.length;
  }

  end(): void {
    process.off("exit", this.restore);
    this.restore();
  }
}
