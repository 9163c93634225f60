#!/usr/bin/env node
/**
 * Follows a book: a snapshot, then only what changes, each frame checked against the one before and
 * against a checksum of the whole book. A copy that missed a frame is fetched again automatically.
 *
 *   npm start                                    # in another terminal
 *   node examples/mirrored-book.mjs [http://127.0.0.1:8080] [BTCUSD] [20 changes]
 */
import { PerpgateClient } from "@perpgate/sdk";

const [url = "http://127.0.0.1:8080", symbol = "BTCUSD", count = "20"] = process.argv.slice(2);
const client = new PerpgateClient({ url });
let changes = 0;

const watch = client.stream.watchBook(
  symbol,
  (book) => {
    const [bid, ask] = [book.bestBid, book.bestAsk];
    const spread = bid && ask ? (ask[0] - bid[0]).toFixed(2) : "-";
    const depth = `${book.depth("bid")} + ${book.depth("ask")} levels`;
    console.log(
      `seq ${book.seq}: bid ${bid ?? "-"}, ask ${ask ?? "-"}, spread ${spread}, ${depth}`,
    );
    changes += 1;
    if (changes < Number(count)) return;
    watch.close();
    client.close();
  },
  { onProblem: ({ kind }) => console.log(`problem: ${kind}`) },
);

// Rejects, and ends the program, if there is no such market.
await watch.ready;
