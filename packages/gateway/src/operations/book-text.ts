/**
 * A book as JSON. Most of it is levels, and most reads see the levels of the read before: their text
 * is kept for as long as the venue hands out the same array, which it does until the book changes.
 */

import type { Book } from "@perpgate/protocol";

const texts = new WeakMap<Book["bids"], string>();

export function bookText({ symbol, seq, block, time, bids, asks }: Book): string {
  return (
    `{"symbol":${JSON.stringify(symbol)},"seq":${seq},"block":${block},"time":${time},` +
    `"bids":${levelsText(bids)},"asks":${levelsText(asks)}}`
  );
}

function levelsText(levels: Book["bids"]): string {
  let text = texts.get(levels);
  if (text === undefined) {
    text = JSON.stringify(levels);
    texts.set(levels, text);
  }
  return text;
}
