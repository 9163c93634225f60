import {
  getBlock,
  getBook,
  getCandles,
  getFunding,
  getHonesty,
  getLatestBlock,
  getMarkets,
  getTicker,
  getTickers,
  getTrades,
} from "@perpgate/protocol/operations";
import { bookText } from "./book-text.js";
import { handle, handleByVenue, JsonText } from "./handler.js";

export const MARKET_HANDLERS = [
  handle(getMarkets, (_, { markets }) => [...markets()]),
  handleByVenue(
    getBook,
    async ({ params, query }, venue) =>
      new JsonText(bookText(await venue.publicReads.book(params.symbol, query.depth))),
  ),
  handleByVenue(getTicker, ({ params }, venue) => venue.publicReads.ticker(params.symbol)),
  handleByVenue(getTickers, (_, venue) => venue.publicReads.tickers()),
  handleByVenue(getTrades, ({ params, query }, venue) =>
    venue.publicReads.trades(params.symbol, query),
  ),
  handleByVenue(getCandles, ({ params, query }, venue) =>
    venue.publicReads.candles(params.symbol, query),
  ),
  handleByVenue(getFunding, ({ params, query }, venue) =>
    venue.publicReads.funding(params.symbol, query),
  ),
  handleByVenue(getHonesty, (_, venue) => venue.publicReads.honesty()),
  handleByVenue(getLatestBlock, (_, venue) => venue.publicReads.latestBlock()),
  handleByVenue(getBlock, ({ params }, venue) => venue.publicReads.block(Number(params.number))),
];
