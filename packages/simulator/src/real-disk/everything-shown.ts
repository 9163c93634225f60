/**
 * Everything that a venue shows, as one comparable value: two venues with the same log must show the
 * same.
 */

import { createHash } from "node:crypto";
import { RESOLUTIONS, rootFromPath } from "@perpgate/protocol/core";
import type { Venue } from "@perpgate/venue";
import { mustHold } from "../auditor/violation.js";

/** More than a simulated venue has of anything. */
const ALL = 10_000;

export async function everythingShown(venue: Venue, accounts: number): Promise<object> {
  const { views, history } = venue;
  return {
    position: venue.seq,
    timeMs: views.timeMs,
    markets: views.markets().map((market) => ({ market, ...marketShown(venue, market.symbol) })),
    accounts: Array.from({ length: accounts }, (_, index) => accountShown(venue, index + 1)),
    acknowledgements: history.acksBetween(1, venue.seq).map(({ seq: position, leaf, digest }) => ({
      position,
      leaf: leaf.toString("hex"),
      digest: digest.toString("hex"),
    })),
    blocks: await chain(venue),
    sessions: Array.from({ length: venue.seq }, (_, index) => views.sessionKey(index + 1)),
  };
}

function marketShown({ views }: Venue, symbol: string): object {
  // The book's sequence number counts from the start of the process.
  const { seq: _, ...book } = views.book(symbol, ALL) ?? { seq: 0 };
  return {
    book,
    ticker: views.ticker(symbol),
    trades: views.trades(symbol, { limit: ALL }),
    candles: RESOLUTIONS.map((resolution) => views.candles(symbol, resolution, { limit: ALL })),
    funding: views.funding(symbol, { limit: ALL }),
  };
}

function accountShown({ views }: Venue, account: number): object {
  return {
    fills: views.fills(account, { limit: ALL }),
    orders: views.orders(account),
    open: views.openOrders(account),
    positions: views.positions(account),
    deposits: views.deposits(account).rows,
    walletMicros: views.walletMicros(account),
  };
}

/** The blocks from the first, each the parent of the next and proving its acknowledgements. */
async function chain({ views, history }: Venue): Promise<object[]> {
  const blocks: object[] = [];
  let parent: Buffer | undefined;
  for (let number = 1; ; number++) {
    const block = history.block(number);
    if (block === undefined) return blocks;
    mustHold(
      parent === undefined || block.parentHash.equals(parent),
      () => `block ${number} does not follow block ${number - 1}`,
    );
    parent = block.hash;
    const acks = history.acksBetween(block.firstPosition, block.lastPosition);
    mustHold(acks.length === block.ackCount, () => `block ${number} counts otherwise`);
    for (const [index, { leaf, seq: position }] of acks.entries()) {
      const account = accountOf(leaf);
      const proof = await views.preconfirm(account, position);
      mustHold(
        typeof proof === "object" && proof.index === index && proof.block === number,
        () => `order ${position} has no proof`,
      );
      const path = proof.path.map((hash) => Buffer.from(hash.slice(2), "hex"));
      mustHold(
        proof.leaf === `0x${leaf.toString("hex")}`,
        () => `the proof of order ${position} has another leaf`,
      );
      const root = rootFromPath(leaf, index, block.ackCount, path);
      mustHold(
        root !== undefined && block.acksRoot.equals(root),
        () => `the proof of order ${position} does not lead to its block`,
      );
    }
    blocks.push({ number, hash: block.hash.toString("hex") });
  }
}

/** The leaf's words: the kind of the event, the order's id, the account. */
function accountOf(leaf: Buffer): number {
  return leaf.readDoubleLE(16);
}

export function digestOf(shown: object): string {
  return createHash("sha256").update(JSON.stringify(shown)).digest("hex");
}
