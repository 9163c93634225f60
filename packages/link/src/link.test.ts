import { ApiError } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import type { CoreLinkOptions } from "./core-link.js";
import { EdgeLink } from "./edge-link.js";
import { type Frame, LINK_VERSION, type Notes } from "./frames.js";
import { handlersWith } from "./testing/handlers.js";
import { FILE, newCoreLink } from "./testing/socket-links.js";
import { type LinkTransport, memoryTransport, type Receiver } from "./transport.js";

async function linked(changes: Partial<CoreLinkOptions> = {}, isCoded = false) {
  const faults: string[] = [];
  const transport = memoryTransport({ isCoded });
  const core = newCoreLink(transport.connectCore, {
    window: 2,
    position: () => 7,
    onFault: (error, name) => faults.push(`${name}: ${error}`),
    ...changes,
  });
  const edge = new EdgeLink(transport.connectEdge);
  await edge.ready;
  return { core, edge, faults };
}

test.each([false, true])(
  "a request is answered with fields and notes; coded: %s",
  async (isCoded) => {
    const handlers = handlersWith({
      tlogTile: async ({ level, width }, notes) => {
        notes.rows = width;
        await Promise.resolve();
        return { file: Buffer.from([level]) };
      },
    });
    const { edge } = await linked({ handlers }, isCoded);
    const notes: Notes[] = [];
    const tile = { level: 3, index: 9, width: 256, isEntries: false };
    const { file } = await edge.request("tlogTile", tile, (each) => notes.push(each));
    expect(file).toEqual(Buffer.from([3]));
    expect(notes).toEqual([
      { counted: undefined, rows: 256, work: 0, isReplay: false, historyBefore: 0 },
    ]);
    expect(edge.position).toBe(7);
    expect(edge.inFlight).toBe(0);
  },
);

test.each([false, true])("a refusal is the core's ApiError; coded: %s", async (isCoded) => {
  const error = new ApiError(
    "too_many_rows",
    { read: 1, found: 2, advice: "x" },
    { field: "f", details: { found: 2, next: "9" } },
  );
  const handlers = handlersWith({
    tlogPolicy: (_, notes) => {
      notes.counted = {
        limit: "account-reads",
        quota: 200,
        windowSeconds: 2,
        remaining: 0,
        fullInSeconds: 1,
      };
      throw error;
    },
  });
  const { edge, faults } = await linked({ handlers }, isCoded);
  const notes: Notes[] = [];
  const refused = await edge
    .request("tlogPolicy", {}, (each) => notes.push(each))
    .catch((e: unknown) => e);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({
    code: "too_many_rows",
    status: 400,
    message: error.message,
    field: "f",
    details: { found: 2, next: "9" },
  });
  expect(notes[0]?.counted?.quota).toBe(200);
  expect(faults).toEqual([]);
});

test.each([
  [
    "throws",
    () => {
      throw new TypeError("a fault");
    },
  ],
  ["rejects", () => Promise.reject(new TypeError("a fault"))],
])("a handler that %s: internal_error for the edge, the fault for the core", async (_, handler) => {
  const { edge, faults } = await linked({ handlers: handlersWith({ tlogPolicy: handler }) });
  await expect(edge.request("tlogPolicy", {})).rejects.toMatchObject({ code: "internal_error" });
  expect(faults).toEqual(["tlogPolicy: TypeError: a fault"]);
});

test("an answer beyond its bound: internal_error, and the link goes on", async () => {
  const handlers = handlersWith({
    tlogPolicy: () => FILE,
    getTime: () => ({ result: { time: Number.NaN } }),
  });
  const { edge, faults } = await linked({ handlers }, true);
  await expect(edge.request("getTime", { params: {}, query: {} })).rejects.toMatchObject({
    code: "internal_error",
  });
  expect(faults).toEqual([expect.stringContaining("getTime (answer).result.time is NaN")]);
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
});

test("nothing arrives within the call that sent it", async () => {
  const { edge } = await linked();
  let isSettled = false;
  const answer = edge.request("tlogPolicy", {}).then(() => {
    isSettled = true;
  });
  expect(isSettled).toBe(false);
  await answer;
});

test("a full window: overloaded at the edge; the next request after an answer passes", async () => {
  const open: ((file: typeof FILE) => void)[] = [];
  const handlers = handlersWith({ tlogPolicy: () => new Promise((resolve) => open.push(resolve)) });
  const { edge } = await linked({ handlers });
  const first = edge.request("tlogPolicy", {});
  const second = edge.request("tlogPolicy", {});
  await expect(edge.request("tlogPolicy", {})).rejects.toMatchObject({ code: "overloaded" });
  open[0]?.(FILE);
  expect(await first).toEqual(FILE);
  const third = edge.request("tlogPolicy", {});
  await Promise.resolve();
  for (const answer of open) answer(FILE);
  expect(await Promise.all([second, third])).toEqual([FILE, FILE]);
});

test("either side closes: requests in flight reject with stopped, later ones too", async () => {
  for (const side of ["edge", "core"] as const) {
    const handlers = handlersWith({ tlogPolicy: () => new Promise(() => undefined) });
    const links = await linked({ handlers });
    const pending = links.edge.request("tlogPolicy", {});
    await Promise.resolve();
    links[side].close("the test is over");
    await expect(pending).rejects.toMatchObject({ code: "stopped" });
    await expect(links.edge.request("tlogPolicy", {})).rejects.toMatchObject({ code: "stopped" });
    expect((await links.edge.closed).message).toBe("the test is over");
    expect((await links.core.closed).message).toBe("the test is over");
  }
});

/** The end of an edge that sends what no edge would. */
async function dialed(...frames: object[]): Promise<string> {
  const transport = memoryTransport();
  const core = newCoreLink(transport.connectCore, {
    handlers: handlersWith({ tlogPolicy: () => new Promise(() => undefined) }),
    window: 1,
    onFault: () => undefined,
  });
  const told: string[] = [];
  const receiver: Receiver = {
    receive: (frame) => {
      if (frame.kind === "notice" && "reason" in frame.body) told.push(frame.body.reason);
    },
    ended: () => undefined,
  };
  const end: LinkTransport = transport.connectEdge(receiver);
  for (const frame of frames) end.send({ epoch: 0, position: 0, ...frame } as Frame);
  const { message } = await core.closed;
  await Promise.resolve();
  expect(told).toEqual([message]);
  return message;
}

const HELLO = { kind: "notice", name: "hello", body: { version: LINK_VERSION } };
const ASK = { kind: "request", name: "tlogPolicy", id: 1, body: {} };

test.each([
  [
    "another version",
    [{ ...HELLO, body: { version: 9 } }],
    "the core has version 1 of the link, the edge version 9",
  ],
  [
    "a notice that only cores send",
    [HELLO, { kind: "notice", name: "welcome" }],
    "an edge sends no welcome here",
  ],
  ["no hello", [ASK], "the edge sends tlogPolicy before hello"],
  ["two hellos", [HELLO, HELLO], "an edge sends no hello here"],
  ["an id twice", [HELLO, ASK, ASK], "the edge uses id 1 twice"],
  ["more than its window", [HELLO, ASK, { ...ASK, id: 2 }], "the edge has over 1 in flight"],
  ["an answer", [HELLO, { kind: "answer", name: "tlogPolicy", id: 1 }], "an edge answers nothing"],
])("an edge that sends %s: its link ends with a message", async (_, frames, message) => {
  expect(await dialed(...frames)).toBe(message);
});

/** The end of a core that sends what no core would. */
async function offered(...frames: object[]) {
  const transport = memoryTransport();
  const end = transport.connectCore({ receive: () => undefined, ended: () => undefined });
  const edge = new EdgeLink(transport.connectEdge);
  for (const frame of frames) end.send({ epoch: 1, position: 5, ...frame } as Frame);
  await Promise.resolve();
  return edge;
}

const WELCOME = {
  kind: "notice",
  name: "welcome",
  body: { version: LINK_VERSION, window: 4, isReplicated: true, isLeading: true, timeMs: 0 },
};
const NOTES = { counted: undefined, rows: 0, work: 0, isReplay: false, historyBefore: 0 };

test("a core of another version: the edge's link ends, and names both", async () => {
  const edge = await offered({ ...WELCOME, body: { ...WELCOME.body, version: 2 } });
  expect((await edge.closed).message).toBe(
    "the edge has version 1 of the link, the core version 2",
  );
  await expect(edge.ready).rejects.toThrow("version 2");
});

test("an answer to nothing, or of another request: the link ends", async () => {
  const answer = { kind: "answer", name: "tlogPolicy", id: 1, notes: NOTES, body: FILE };
  const nothing = await offered(WELCOME, answer);
  expect((await nothing.closed).message).toBe("the core answers 1, which is no request in flight");
  const edge = await offered(WELCOME);
  const asked = edge.request("tlogAcks", { block: 1 });
  edge.receive({ epoch: 1, position: 5, ...answer } as Frame);
  expect((await edge.closed).message).toBe("the core answers tlogPolicy where tlogAcks was asked");
  await expect(asked).rejects.toMatchObject({ code: "stopped" });
});

test("frames of an older epoch are ignored; the position shown never goes back", async () => {
  const edge = await offered(WELCOME);
  expect([edge.epoch, edge.position, edge.isReplicated]).toEqual([1, 5, true]);
  edge.receive({
    kind: "notice",
    name: "bye",
    epoch: 0,
    position: 99,
    body: { reason: "an older core" },
  });
  expect([edge.epoch, edge.position]).toEqual([1, 5]);
  edge.receive({ ...WELCOME, epoch: 2, position: 3 } as Frame);
  expect([edge.epoch, edge.position]).toEqual([2, 5]);
});

test("an edge that does not read: no room first, then its link ends", async () => {
  const transport = memoryTransport();
  let waitingBytes = 0;
  const core = newCoreLink(
    (receiver) => ({
      ...transport.connectCore(receiver),
      get waitingBytes() {
        return waitingBytes;
      },
    }),
    { window: 1, onFault: () => undefined },
  );
  const edge = new EdgeLink(transport.connectEdge);
  await edge.ready;
  expect(core.hasRoom).toBe(true);
  waitingBytes = 2 ** 20 + 1;
  expect(core.hasRoom).toBe(false);
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
  waitingBytes = 2 ** 27 + 1;
  void edge.request("tlogPolicy", {}).catch(() => undefined);
  expect((await core.closed).message).toBe("the edge does not read: 134217729 bytes wait for it");
});
