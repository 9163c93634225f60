import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { MAX_CREDITS_PER_VOTE } from "@perpgate/protocol/core";
import { serve } from "@perpgate/protocol/testing/serve";
import { expect, test } from "vitest";
import { privateKeyFromSeed, RemoteVenue, type SignedVote, signVote, type Vote } from "./index.js";
import { SEEDS } from "./testing/attestors.js";
import { VenueUnreachable } from "./venue-port.js";

const KEY = privateKeyFromSeed(SEEDS[0]!);

async function venueWith(
  listener: RequestListener,
  timeoutMs = 5_000,
  prefix = "",
  stop = new AbortController().signal,
): Promise<RemoteVenue> {
  const url = `${await serve(listener)}${prefix}`;
  return venueAt([url], timeoutMs, stop);
}

function venueAt(urls: readonly string[], timeoutMs = 5_000, stop?: AbortSignal): RemoteVenue {
  const keys = new Map([[0, KEY]]);
  return new RemoteVenue({ urls, keys, clock: () => 1, timeoutMs, ...(stop && { stop }) });
}

function json(body: unknown, status = 200): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
}

test.each<[string, RequestListener]>([
  ["rejects the request", json({ code: "attestor_unknown" }, 403)],
  ["responds with another shape", json({ hello: "world" })],
  ["responds with an empty page that has a next page", json({ deposits: [], next: "0" })],
  ["responds without JSON", (_request, response) => void response.end("<html>")],
  ["closes the connection", (request) => void request.socket.destroy()],
])("venue %s: VenueUnreachable", async (_, listener) => {
  const venue = await venueWith(listener);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow(VenueUnreachable);
  await expect(venue.credited("ethereum", 0, 5, 0)).rejects.toThrow(VenueUnreachable);
  await expect(venue.terms()).rejects.toThrow(VenueUnreachable);
});

test("a page of a proxy instead of JSON: the reason has its status", async () => {
  const venue = await venueWith((_request, response) => {
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
  });
  const reason = "the venue responded 502: no code";
  await expect(venue.terms()).rejects.toThrow(reason);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow(reason);
  await expect(venue.submit([voteOn(1, 0)])).rejects.toThrow(VenueUnreachable);
  const greeting = await venueWith((_request, response) => void response.end("<html>"));
  await expect(greeting.terms()).rejects.toThrow("the venue responded 200 without JSON");
});

test("several gateways: the next one when one is gone or stalls, also for votes", async () => {
  const asked: string[] = [];
  const gateway = (name: string, listener: RequestListener) =>
    serve((request, response) => {
      asked.push(name);
      listener(request, response);
    });
  const urls = [
    await gateway("closes", (request) => void request.socket.destroy()),
    await gateway("stalls", json({ code: "not_executed" }, 503)),
    await gateway("is late", json({ code: "attestor_request_outdated" }, 401)),
    await gateway("answers", json({ deposits: [], next: null })),
  ];
  const venue = venueAt(urls);
  const read = () => venue.pending("ethereum", 0, "ascending", 0);
  // Two that fail together move once.
  const both = await Promise.allSettled([read(), read()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(venue.submit([voteOn(1, 0)])).rejects.toThrow("503: not_executed");
  // A vote that is refused is so everywhere.
  await expect(venue.submit([voteOn(1, 0)])).rejects.toThrow("401");
  await expect(read()).rejects.toThrow("401: attestor_request_outdated");
  expect((await read()).rows).toEqual([]);
  expect((await read()).rows).toEqual([]);
  const late = ["is late", "is late"];
  expect(asked).toEqual(["closes", "closes", "stalls", ...late, "answers", "answers"]);
});

test.each(["", "/", "/prefix", "/prefix/"])(
  'an address that ends with "%s": requests are below it',
  async (prefix) => {
    const paths: (string | undefined)[] = [];
    const venue = await venueWith(
      (request, response) => {
        paths.push(request.url);
        json({ code: "attestor_unknown" }, 403)(request, response);
      },
      5_000,
      prefix,
    );
    await expect(venue.terms()).rejects.toThrow("403");
    expect(paths).toEqual([`${prefix.replace(/\/$/, "")}/v1/bridge`]);
  },
);

test("endless response: aborted, and the connection is closed", async () => {
  const closed: Promise<void>[] = [];
  const venue = await venueWith((request, response) => {
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

test("queue that goes back: VenueUnreachable", async () => {
  const venue = await venueWith(json({ deposits: [], next: "5" }));
  await expect(venue.pending("ethereum", 0, "ascending", 5)).rejects.toThrow("does not advance");
  await expect(venue.pending("ethereum", 0, "descending", 5)).rejects.toThrow("does not advance");
});

test("venue without a response: time-out", async () => {
  const venue = await venueWith(() => undefined, 100);
  await expect(venue.pending("ethereum", 0, "ascending", 0)).rejects.toThrow("timeout");
});

test("stop: a read in flight ends, no request starts, and a vote in flight gets its answer", async () => {
  const stopping = new AbortController();
  const paths: (string | undefined)[] = [];
  const answers: (() => void)[] = [];
  const venue = await venueWith(
    (request, response) => {
      paths.push(request.url);
      if (request.url === "/v1/bridge/votes") {
        answers.push(() => json({ refusals: [null] })(request, response));
      }
      if (paths.length === 2) stopping.abort();
    },
    60_000,
    "",
    stopping.signal,
  );
  const read = venue.pending("ethereum", 0, "ascending", 0);
  const vote = venue.submit([voteOn(1, 0)]);
  await expect(read).rejects.toThrow(VenueUnreachable);
  await expect(venue.terms()).rejects.toThrow("the attestor stops");
  for (const answer of answers) answer();
  expect(await vote).toEqual([null]);
  expect(paths).toHaveLength(2);
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
  ["of the longest kind", MAX_CREDITS_PER_VOTE],
])("a hundred votes, %s: split into requests, refusals in order", async (_, credits) => {
  const sizes: { votes: number; bytes: number }[] = [];
  const venue = await venueWith(async (request, response) => {
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
});

test("status 413: an error of the votes, not VenueUnreachable", async () => {
  const venue = await venueWith(json({ code: "body_too_large" }, 413));
  const failure = await venue.submit([voteOn(1, 0)]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect(failure).not.toBeInstanceOf(VenueUnreachable);
});

test.each([429, 503])("status %i: VenueUnreachable", async (status) => {
  const venue = await venueWith(json({ code: "rate_limited" }, status));
  await expect(venue.submit([voteOn(1, 0)])).rejects.toThrow(VenueUnreachable);
});
