/** A venue elsewhere that misbehaves: the attestor waits for the next poll, and is never caught. */

import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol";
import { expect, onTestFinished, test } from "vitest";
import {
  privateKeyFromSeed,
  RemoteVenue,
  type SignedVote,
  signVote,
  VenueUnreachable,
  type Vote,
} from "./index.js";
import { SEEDS } from "./testing/attestors.js";

const KEY = privateKeyFromSeed(SEEDS[0]!);

async function venueThat(answers: RequestListener, timeoutMs = 5_000): Promise<RemoteVenue> {
  const server = createServer(answers);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}`;
  const keys = new Map([[0, KEY]]);
  return new RemoteVenue({ url, keys, clock: () => 1, timeoutMs });
}

function json(body: unknown, status = 200): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
}

test.each<[string, RequestListener]>([
  ["refuses", json({ code: "attestor_unknown" }, 403)],
  ["answers with something else", json({ hello: "world" })],
  ["answers with a page of no deposits that has another page", json({ deposits: [], next: "0" })],
  ["answers with no JSON", (_request, response) => void response.end("<html>")],
  ["hangs up", (request) => void request.socket.destroy()],
])("a venue that %s: unreachable", async (_, answers) => {
  const venue = await venueThat(answers);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow(VenueUnreachable);
  await expect(venue.credited("ethereum", 0, 5, 0)).rejects.toThrow(VenueUnreachable);
  await expect(venue.terms()).rejects.toThrow(VenueUnreachable);
});

test("a venue that answers without end: given up on, and its connection is closed", async () => {
  const closed: Promise<void>[] = [];
  const venue = await venueThat((request, response) => {
    closed.push(new Promise((resolve) => request.socket.once("close", () => resolve())));
    const piece = Buffer.alloc(65_536, " ");
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  }, 60_000);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow(
    "more than 8388608 bytes",
  );
  await expect(venue.credited("ethereum", 0, 5, 0)).rejects.toThrow(VenueUnreachable);
  await Promise.all(closed);
});

test("a venue whose queue goes back: given up on", async () => {
  const venue = await venueThat(json({ deposits: [], next: "5" }));
  await expect(venue.pending("ethereum", 0, "ascending", 5)).rejects.toThrow("does not go on");
  await expect(venue.pending("ethereum", 0, "descending", 5)).rejects.toThrow("does not go on");
});

test("a venue that never answers: given up on", async () => {
  const venue = await venueThat(() => undefined, 100);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow("timeout");
});

function voteOn(depositId: number, credits: number): SignedVote {
  const vote: Vote = {
    venue: "5e".repeat(32),
    attestor: 0,
    depositId,
    chain: "tron",
    chainId: 728_126_428,
    vault: "33".repeat(20),
    tokens: [{ token: "USDT", contract: "44".repeat(20) }],
    txHash: "ab".repeat(32),
    verdict: credits === 0 ? "confirming" : "credit",
    confirmations: 1,
    required: 2,
    block: null,
    credits: Array.from({ length: credits }, (_, i) => ({
      logIndex: 1_000_000 + i,
      token: "USDT",
      address: "ab".repeat(20),
      amountMicros: Number.MAX_SAFE_INTEGER,
    })),
    reason: "",
    part: 1,
    parts: 1,
    votedAtMs: 1,
  };
  return signVote(vote, KEY);
}

test.each([
  ["short", 0],
  ["as long as votes get", MAX_CREDITS_PER_VOTE],
])(
  "a hundred votes, %s: in requests that a gateway takes, answers in their order",
  async (_, credits) => {
    const sizes: { votes: number; bytes: number }[] = [];
    const venue = await venueThat(async (request, response) => {
      const read = await text(request);
      const body: { votes: { text: string }[] } = JSON.parse(read);
      sizes.push({ votes: body.votes.length, bytes: Buffer.byteLength(read) });
      const refusals = body.votes.map((vote) => /^deposit (\d+)$/m.exec(vote.text)?.[1] ?? null);
      response.end(JSON.stringify({ refusals }));
    });
    const votes = Array.from({ length: 100 }, (_, depositId) => voteOn(depositId, credits));
    expect(await venue.submit(votes)).toEqual(votes.map(({ vote }) => String(vote.depositId)));
    for (const { votes: count, bytes } of sizes) {
      expect(count).toBeLessThanOrEqual(64);
      expect(bytes).toBeLessThan(65_536);
    }
  },
);

test("a request that the venue refuses: an error of these votes, not of the venue", async () => {
  const venue = await venueThat(json({ code: "body_too_large" }, 413));
  const failure = await venue.submit([voteOn(1, 0)]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(VenueUnreachable);
});

test.each([429, 503])("a venue that answers %i: unreachable for now", async (status) => {
  const venue = await venueThat(json({ code: "rate_limited" }, status));
  await expect(venue.submit([voteOn(1, 0)])).rejects.toThrow(VenueUnreachable);
});
