/** A venue elsewhere that misbehaves: the attestor waits for the next poll, and is never caught. */

import { createServer, type RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import {
  privateKeyFromSeed,
  RemoteVenue,
  signVote,
  VenueUnreachable,
  type Vote,
} from "@perpgate/bridge";
import { expect, onTestFinished, test } from "vitest";
import { SEEDS } from "./desk.js";

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
  return new RemoteVenue({ url, venue: "test-venue", keys, clock: () => 1, timeoutMs });
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
  await expect(venue.pending("ethereum", 0)).rejects.toThrow(VenueUnreachable);
  await expect(venue.credited("ethereum", 5, 0)).rejects.toThrow(VenueUnreachable);
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
  await expect(venue.pending("ethereum", 0)).rejects.toThrow("more than 8388608 bytes");
  await expect(venue.credited("ethereum", 5, 0)).rejects.toThrow(VenueUnreachable);
  await Promise.all(closed);
});

test("a venue whose queue goes on without end: given up on", async () => {
  let page = 0;
  const venue = await venueThat((_request, response) => {
    response.end(JSON.stringify({ deposits: [], next: String(++page) }));
  });
  await expect(venue.pending("ethereum", 0)).rejects.toThrow("the venue's queue does not end");
  expect(page).toBe(1_000);
});

test("a venue that never answers: given up on", async () => {
  const venue = await venueThat(() => undefined, 100);
  await expect(venue.pending("ethereum", 0)).rejects.toThrow("timeout");
});

test("a hundred votes: in requests that a gateway takes, answers in their order", async () => {
  const sizes: number[] = [];
  const venue = await venueThat(async (request, response) => {
    const body: { votes: { text: string }[] } = JSON.parse(await text(request));
    sizes.push(body.votes.length);
    const refusals = body.votes.map((vote) => /^deposit (\d+)$/m.exec(vote.text)?.[1] ?? null);
    response.end(JSON.stringify({ refusals }));
  });
  const votes = Array.from({ length: 100 }, (_, depositId) => {
    const vote: Vote = {
      venue: "test-venue",
      attestor: 0,
      depositId,
      chain: "tron",
      txHash: "ab".repeat(32),
      token: "USDT",
      verdict: "confirming",
      confirmations: 1,
      required: 2,
      block: null,
      credits: [],
      reason: "",
      votedAtMs: 1,
    };
    return signVote(vote, KEY);
  });
  expect(await venue.submit(votes)).toEqual(votes.map(({ vote }) => String(vote.depositId)));
  expect(sizes).toEqual([64, 36]);
  await expect(venue.markReorged(votes[7]!)).rejects.toThrow("refused to mark a deposit: 7");
});
