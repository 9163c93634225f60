/** Proofs of a real venue, whose answers are lost on the way. */

import { POLL, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { type FetchLike, newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { describe, expect, onTestFinished, test } from "vitest";
import { newResult } from "./order-result.js";
import { ReceiptBook } from "./receipt-book.js";

const PROOF = /\/v1\/preconfirms\/\d+$/;
const HONESTY = /\/v1\/honesty$/;
const ORDER = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  leverage: 5,
  margin: 100,
  price: 60_000,
} as const;

/**
 * A book with the result of an order whose block is sealed, which the book does not know yet. `lost`:
 * reads that get no answer, or that of a proxy.
 */
async function start(lost = { path: PROOF, reads: 0 }) {
  const { key: logKey } = newLogKey("venue.example/log");
  const promises = { logKey, checkpointMs: 50 };
  const at = await runVenue({ startMs: startAheadOfClients(), promises });
  const spoil = { isReceiptLeftOut: false, gatewayStatus: 0 };
  const fetchLosing: FetchLike = async (url, init) => {
    if (lost.path.test(url) && lost.reads-- > 0) {
      if (spoil.gatewayStatus === 0) throw new TypeError("fetch failed");
      return new Response("<html>", { status: spoil.gatewayStatus });
    }
    const response = await fetch(url, init);
    if (!spoil.isReceiptLeftOut || init.method !== "POST") return response;
    const { receipt: _, ...ack } = Object(await response.json());
    const { status, headers } = response;
    return { status, headers, text: async () => JSON.stringify(ack) };
  };
  const client = new PerpgateClient({
    url: at.url,
    fetch: fetchLosing,
    retries: 0,
    onReceiptProblem: (problem) => book.receiptProblem(problem),
  });
  onTestFinished(() => client.close());
  const session = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const markets = await client.markets();
  const book = new ReceiptBook({ client, markets: () => markets });
  onTestFinished(() => book.forget());
  const { replayed, ...ack } = await session.placeOrder(ORDER);
  await session.receipts.settled();
  book.add(session, newResult(ack, { type: "limit", replayed, browserMs: 1 }));
  await at.advance(2_000);
  const sealed = (more: number) => book.sealedUpTo(ack.expectedBlock + more, session);
  const shown = () => book.results.get()[0];
  return { book, session, ack, lost, spoil, sealed, shown };
}

describe("receipt book", () => {
  test("a proof without an answer: not shown as sealed, and read again with the next block", async () => {
    const { lost, sealed, shown } = await start();
    lost.reads = 1;
    sealed(0);
    await expect.poll(() => shown()?.seal, POLL).toBe("soft");
    sealed(1);
    await expect.poll(() => shown()?.seal, POLL).toBe("proven");
  });

  test.each([502, 503, 429])("a proof that is answered %i: read again", async (status) => {
    const { lost, spoil, sealed, shown } = await start();
    spoil.gatewayStatus = status;
    lost.reads = 1;
    sealed(0);
    await expect.poll(() => shown()?.seal, POLL).toBe("soft");
    sealed(1);
    await expect.poll(() => shown()?.seal, POLL).toBe("proven");
    lost.path = HONESTY;
    lost.reads = 1;
    await expect.poll(() => shown()?.witness, POLL).toBe("logged");
    expect(shown()?.failure).toBeUndefined();
  });

  test("a log's key without an answer: the receipt stays in check, and holds after a reconnection", async () => {
    const { book, session, lost, shown } = await start({ path: HONESTY, reads: 3 });
    await expect.poll(() => lost.reads, POLL).toBe(0);
    expect(shown()?.signed).toBe("checking");
    book.reconnected(session);
    await expect.poll(() => shown()?.signed, POLL).toBe("held");
  });

  test("a proof without an answer again and again: unproven with the reason, until it is checked again", async () => {
    const { book, session, ack, lost, sealed, shown } = await start();
    lost.reads = 3;
    for (const [more, seal] of ["soft", "soft", "unproven"].entries()) {
      sealed(more);
      await expect.poll(() => shown()?.seal, POLL).toBe(seal);
    }
    expect(shown()?.failure).toMatch(/^The proof could not be checked: ./);
    book.retry(session, ack.ackNonce);
    await expect.poll(() => shown()?.seal, POLL).toBe("proven");
    expect(shown()?.failure).toBeUndefined();
  });

  test("proofs without an answer before a reconnection do not count after it", async () => {
    const { book, session, lost, sealed, shown } = await start();
    lost.reads = 3;
    for (const more of [0, 1]) {
      sealed(more);
      await expect.poll(() => shown()?.seal, POLL).toBe("soft");
    }
    book.reconnected(session);
    await expect.poll(() => shown()?.lostReads, POLL).toBe(1);
    expect(shown()?.seal).toBe("soft");
    sealed(0);
    await expect.poll(() => shown()?.seal, POLL).toBe("proven");
  });

  test("an acknowledgement without its receipt: missing, not one that does not hold", async () => {
    const { book, session, spoil, shown } = await start();
    spoil.isReceiptLeftOut = true;
    const { replayed, ...ack } = await session.placeOrder(ORDER);
    book.add(session, newResult(ack, { type: "limit", replayed, browserMs: 1 }));
    await expect.poll(() => shown()?.signed, POLL).toBe("missing");
    expect(shown()?.receiptFailure).toMatch(/^The venue gave no receipt: /);
  });

  test("a checkpoint without an answer: read again", async () => {
    const { lost, sealed, shown } = await start();
    lost.path = HONESTY;
    lost.reads = 1;
    sealed(0);
    await expect.poll(() => shown()?.witness, POLL).toBe("logged");
    expect(lost.reads).toBeLessThan(1);
  });
});
