/** Peers that send or leave unread more than they may: bounded in what they cost the other side. */
import { expect, test } from "vitest";
import { handlersWith } from "./testing/handlers.js";
import {
  asks,
  byeOn,
  encoded,
  FILE,
  HELLO,
  startCore,
  startEdge,
  startRaw,
} from "./testing/socket-links.js";

test("a million requests that wait: the link ends at the window, and the rest costs the core nothing", async () => {
  let handled = 0;
  const handlers = handlersWith({
    tlogPolicy: () => {
      handled++;
      return new Promise(() => undefined);
    },
  });
  const { folder, links } = await startCore({ handlers });
  const raw = await startRaw(folder);
  const bye = byeOn(raw);
  raw.write(encoded(HELLO));
  for (let id = 0; id < 1_000_000; id += 10_000) raw.write(asks(id, 10_000));
  expect((await links[0]!.closed).message).toBe("the edge has over 1000 in flight");
  expect(await bye).toBe("the edge has over 1000 in flight");
  expect(handled).toBe(1_000);
});

test("a million requests of an edge that never reads: the core stops reading it, then its link ends", async () => {
  let handled = 0;
  const handlers = handlersWith({
    tlogPolicy: () => {
      handled++;
      return FILE;
    },
  });
  const { folder, links } = await startCore({ handlers });
  const raw = await startRaw(folder);
  raw.write(encoded(HELLO));
  for (let id = 0; id < 1_000_000; id += 10_000) raw.write(asks(id, 10_000));
  expect((await links[0]!.closed).message).toBe("the edge has read nothing for 2000 ms");
  // Until 4 MiB of answers wait for it, and what the kernel holds.
  expect(handled).toBeLessThan(60_000);
});

test("an edge that does not read what the core sends it: no room, then its link ends", async () => {
  const { folder, links } = await startCore({
    handlers: handlersWith({ tlogPolicy: () => ({ file: Buffer.alloc(1 << 20) }) }),
  });
  const raw = await startRaw(folder);
  raw.write(encoded(HELLO));
  raw.write(asks(0, 20));
  await expect.poll(() => links[0]?.hasRoom, { timeout: 30_000 }).toBe(false);
  expect((await links[0]!.closed).message).toBe("the edge has read nothing for 2000 ms");
});

test("a core that does not read: an edge's requests are refused once 64 MiB wait", async () => {
  const { folder, links } = await startCore({ window: 1_000_000 });
  const edge = await startEdge(folder);
  const body = { session: 1, params: { id: "x".repeat(1 << 20) }, query: {} };
  expect(links).toHaveLength(1);
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, () => edge.request("getOrder", body)),
  );
  const codes = results.map((result) => (result.status === "rejected" ? result.reason.code : "ok"));
  expect(codes.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => "not_found"));
  expect(codes.slice(-30)).toEqual(Array.from({ length: 30 }, () => "overloaded"));
});

test("an edge that floods: another edge's request waits for a bounded number of the flood's", async () => {
  let flooded = 0;
  const handlers = handlersWith({
    tlogPolicy: () => {
      flooded++;
      return FILE;
    },
    tlogAcks: () => FILE,
  });
  const { folder } = await startCore({ handlers });
  const honest = await startEdge(folder);
  const raw = await startRaw(folder);
  raw.resume();
  raw.write(encoded(HELLO));
  for (let id = 0; id < 300_000; id += 10_000) raw.write(asks(id, 10_000));
  const waits: number[] = [];
  while (flooded < 250_000) {
    const before = flooded;
    await honest.request("tlogAcks", { block: 1 });
    waits.push(flooded - before);
  }
  waits.sort((a, b) => a - b);
  expect(waits.length).toBeGreaterThan(250);
  expect(waits[Math.floor(0.99 * waits.length)]).toBeLessThan(1_000);
});
