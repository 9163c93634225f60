/** Every stream, in the order of the AsyncAPI document. */

import type { Static, TSchema } from "typebox";
import { bookChannel } from "./book-channel.js";
import {
  accountChannel,
  depositsChannel,
  fillsChannel,
  ordersChannel,
  positionsChannel,
  preconfirmsChannel,
} from "./private-channels.js";
import {
  blocksChannel,
  candlesChannel,
  statusChannel,
  tickerChannel,
  tradesChannel,
} from "./public-channels.js";
import type { StreamChannel } from "./stream-channel.js";

export * from "./book-channel.js";
export * from "./private-channels.js";
export * from "./public-channels.js";
export { GapFrame, type StreamChannel } from "./stream-channel.js";

const CHANNELS = [
  bookChannel,
  tradesChannel,
  tickerChannel,
  candlesChannel,
  blocksChannel,
  statusChannel,
  preconfirmsChannel,
  ordersChannel,
  positionsChannel,
  fillsChannel,
  accountChannel,
  depositsChannel,
] as const;

export const STREAM_CHANNELS: readonly StreamChannel[] = CHANNELS;

type FramesOf<S extends StreamChannel["stream"]> = Extract<
  (typeof CHANNELS)[number],
  { readonly stream: S }
>["frames"];

/** The `d` of the frames of a stream. */
export type StreamPayload<S extends StreamChannel["stream"]> = {
  [F in keyof FramesOf<S>]: FramesOf<S>[F] extends TSchema ? Static<FramesOf<S>[F]> : never;
}[keyof FramesOf<S>];
