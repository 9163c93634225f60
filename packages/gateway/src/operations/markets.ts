import {
  getBlock,
  getBook,
  getCandles,
  getFunding,
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
      new JsonText(bookText(await venue.book(params.symbol, query.depth))),
  ),
  handleByVenue(getTicker, ({ params }, venue) => venue.ticker(params.symbol)),
  handleByVenue(getTickers, (_, venue) => venue.tickers()),
  handleByVenue(getTrades, ({ params, query }, venue) => venue.trades(params.symbol, query)),
  handleByVenue(getCandles, ({ params, query }, venue) => venue.candles(params.symbol, query)),
  handleByVenue(getFunding, ({ params, query }, venue) => venue.funding(params.symbol, query)),
  handleByVenue(getLatestBlock, (_, venue) => venue.latestBlock()),
  handleByVenue(getBlock, ({ params }, venue) => venue.block(Number(params.number))),
];
