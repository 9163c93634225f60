import { Type } from "typebox";
import type { BookSideData } from "../../book-codec/book-messages.js";
import { BookLevel } from "../../markets/book.js";
import { BlockNumber, TimeMs } from "../../text/scalar.js";
import { Seq, type StreamChannel } from "./stream-channel.js";

/** `bin` in MessagePack, which JSON Schema has no word for. */
const PackedSide = Type.String({
  format: "binary",
  description: "MessagePack `bin`: the packed side, see the guide to the streams.",
});
const PlainSide = Type.Array(BookLevel, { description: 'With `format: "plain"`.' });
const side = Type.Unsafe<BookSideData>(Type.Union([PackedSide, PlainSide]));
const Checksum = Type.Integer({
  minimum: 0,
  maximum: 0xffff_ffff,
  description: "The checksum of all levels that are published, after this frame.",
});

const BookSnapshotFrame = Type.Object(
  {
    type: Type.Literal("snapshot"),
    seq: Seq,
    block: BlockNumber,
    time: TimeMs,
    tick: Type.Number({ description: "The size of a tick." }),
    lot: Type.Number({ description: "The size of a lot." }),
    bids: side,
    asks: side,
    sum: Checksum,
  },
  { title: "BookSnapshotFrame" },
);

const BookDeltaFrame = Type.Object(
  {
    type: Type.Literal("delta"),
    seq: Seq,
    prev: { ...Seq, description: "The seq of the frame before; otherwise subscribe again." },
    time: TimeMs,
    bids: side,
    asks: side,
    sum: Checksum,
  },
  { title: "BookDeltaFrame", description: "Levels that changed; a size of 0 removes one." },
);

export const bookChannel = {
  stream: "book",
  address: "book.{symbol}",
  access: "public",
  summary: "The order book: a snapshot, then deltas, at most one per 10 ms",
  frames: { bookSnapshot: BookSnapshotFrame, bookDelta: BookDeltaFrame },
} satisfies StreamChannel;
