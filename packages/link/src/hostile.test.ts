/**
 * What a peer can do to the other end of its socket: nothing but lose its own link, with a message, while
 * the other edges of the same core go on.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { MAX_BYTES_IN_FLIGHT } from "./core-link.js";
import { LINK_VERSION, MAX_EDGE_FRAME_BYTES } from "./frames.js";
import { handlersWith } from "./testing/handlers.js";
import {
  asks,
  asksFor,
  byeOn,
  encoded,
  FILE,
  HELLO,
  helloOf,
  newFolder,
  PING,
  startCore,
  startEdge,
  startRaw,
} from "./testing/socket-links.js";
import { connectToCore, LINK_SOCKET } from "./unix-socket.js";

const LENGTH_ABOVE = Buffer.alloc(4);
LENGTH_ABOVE.writeUInt32LE(MAX_EDGE_FRAME_BYTES + 1);
const UNKNOWN_TYPE = encoded(PING);
UNKNOWN_TYPE.writeUInt16LE(9_999, 4);
const OTHER_VERSION = encoded(helloOf(LINK_VERSION + 1));

test.each([
  ["text instead of frames", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "a frame has 542393671 bytes"],
  ["a frame above the bound", LENGTH_ABOVE, `${MAX_EDGE_FRAME_BYTES} are allowed`],
  ["an unknown type", UNKNOWN_TYPE, "type 9999 is no frame of version 1 of the link"],
  ["another version", OTHER_VERSION, "the core has version 1 of the link, the edge version 2"],
  ["a request before hello", asks(1, 1), "the edge sends tlogPolicy before hello"],
  ["hello twice", encoded(HELLO, HELLO), "an edge sends no hello here"],
])(
  "an edge that sends %s: its link ends, both sides know why, others go on",
  async (_, bytes, reason) => {
    const { folder, links } = await startCore();
    const honest = await startEdge(folder);
    const raw = await startRaw(folder);
    const bye = byeOn(raw);
    raw.write(bytes);
    expect(await bye).toContain(reason);
    expect((await links[1]!.closed).message).toContain(reason);
    expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
  },
);

test("an edge that sends half a frame and ends, or closes one direction: its link ends", async () => {
  const { folder, links } = await startCore();
  const half = await startRaw(folder);
  half.end(encoded(HELLO, PING).subarray(0, -3));
  await byeOn(half);
  expect((await links[0]!.closed).message).toBe("the edge has ended within a frame");
  const halfOpen = await startRaw(folder);
  halfOpen.end(encoded(HELLO));
  await byeOn(halfOpen);
  expect((await links[1]!.closed).message).toBe("the edge has ended the link");
});

test("an edge whose requests have over 64 MiB in flight: the core reads no more until it has answered", async () => {
  const MIB = 1 << 20;
  const most = MAX_BYTES_IN_FLIGHT / MIB;
  const answers: (() => void)[] = [];
  const handlers = handlersWith({
    tlogPolicy: () => FILE,
    getOrder: () =>
      new Promise((_, reject) => {
        answers.push(() => reject(new ApiError("not_found", { path: "/nothing" })));
      }),
  });
  const { folder, links } = await startCore({ handlers });
  const honest = await startEdge(folder);
  const raw = await startRaw(folder);
  raw.resume();
  raw.write(encoded(HELLO));
  const large = Buffer.alloc(MIB, "x").toString();
  for (let id = 0; id < 2 * most; id++) raw.write(asksFor(id, large));
  await expect.poll(() => links[1]?.isFull).toBe(true);
  // Turns of the event loop in which it could read all of it.
  for (let turn = 0; turn < 300; turn++) await honest.request("tlogPolicy", {});
  expect(answers.length).toBeLessThan(most + 2);
  for (const answer of answers) answer();
  await expect.poll(() => answers.length).toBe(2 * most);
});

test("the socket: for its user alone, also in place of a killed core's, and in a folder of any depth", async () => {
  const folder = join(newFolder(), "deep".repeat(40));
  mkdirSync(folder);
  writeFileSync(join(folder, LINK_SOCKET), "left behind");
  const { links } = await startCore({}, folder);
  expect(statSync(join(folder, LINK_SOCKET)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, LINK_SOCKET)).isSocket()).toBe(true);
  const edge = await startEdge(folder);
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
  links[0]!.close("the core stops");
  expect((await edge.closed).message).toBe("the core stops");
});

test("no core: the edge's connection fails", async () => {
  await expect(connectToCore(newFolder())).rejects.toThrow("ENOENT");
});
