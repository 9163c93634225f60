import { Type } from "typebox";
import { Block } from "../../blocks/block.js";
import { Candle, Ticker, Trade } from "../../markets/market-data.js";
import { VenueStatus } from "../../markets/venue-status.js";
import type { StreamChannel } from "./stream-channel.js";

const TradesFrame = Type.Array(Trade, { minItems: 1, title: "TradesFrame" });
const CandlesFrame = Type.Array(Candle, {
  minItems: 1,
  maxItems: 2,
  title: "CandlesFrame",
  description: "The previous candle and the current one; a market's first comes alone.",
});

export const tradesChannel = {
  stream: "trades",
  address: "trades.{symbol}",
  access: "public",
  summary: "Each trade once, oldest first",
  frames: { trades: TradesFrame },
} satisfies StreamChannel;

export const tickerChannel = {
  stream: "ticker",
  address: "ticker.{symbol}",
  access: "public",
  summary: "The ticker when subscribed, then each change, at most ten a second",
  frames: { ticker: Ticker },
} satisfies StreamChannel;

export const candlesChannel = {
  stream: "candles",
  address: "candles.{symbol}.{resolution}",
  access: "public",
  summary: "The newest candles when subscribed, then with trades, at most ten times a second",
  frames: { candles: CandlesFrame },
} satisfies StreamChannel;

export const blocksChannel = {
  stream: "blocks",
  address: "blocks",
  access: "public",
  summary: "Each block as it is sealed",
  frames: { block: Block },
} satisfies StreamChannel;

export const statusChannel = {
  stream: "status",
  address: "status",
  access: "public",
  summary:
    "The venue's status when subscribed, then as stage, version or a market's status changes",
  frames: { status: VenueStatus },
} satisfies StreamChannel;
