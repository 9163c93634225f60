import { createServer } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { listening } from "../testing/listening.js";
import { serve } from "../testing/serve.js";
import { boundedBytes, connectionErrorCode, fetchWithin, withTimeLimit } from "./fetch-within.js";

const LIMITS = { timeoutMs: 20_000, maxBytes: 1_000 };

test("fetchWithin: a complete response: status, headers and text", async () => {
  const url = await serve((_request, reply) => {
    reply.setHeader("x-kind", "test").writeHead(404).end("größe");
  });
  const response = await fetchWithin(LIMITS, (signal) => fetch(url, { signal }));
  expect(response).toMatchObject({ status: 404, text: "größe" });
  expect(response.headers.get("x-kind")).toBe("test");
});

test("fetchWithin: no response, and a body that never ends: time limit", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const silent = await serve(() => {
    for (const afterMs of [20, 60, 120]) setTimeout(collectGarbage, afterMs);
  });
  const endless = await serve((_request, reply) => {
    reply.write("{");
    for (const afterMs of [20, 60, 120]) setTimeout(collectGarbage, afterMs);
  });
  for (const url of [silent, endless]) {
    const limits = { ...LIMITS, timeoutMs: 300, signal: new AbortController().signal };
    const response = fetchWithin(limits, (signal) => fetch(url, { signal }));
    await expect(response).rejects.toMatchObject({ name: "TimeLimitError" });
  }
});

test("fetchWithin: a body larger than the bound: rejected", async () => {
  const url = await serve((_request, reply) => {
    reply.write("x".repeat(1_001));
  });
  await expect(fetchWithin(LIMITS, (signal) => fetch(url, { signal }))).rejects.toMatchObject({
    name: "BodyTooLargeError",
  });
});

test("fetchWithin: a fetch whose response has no stream: its text", async () => {
  const headers = new Map();
  const send = async () => ({ status: 200, headers, text: async () => "all of it" });
  expect(await fetchWithin(LIMITS, send)).toEqual({ status: 200, headers, text: "all of it" });
});

test("boundedBytes: a body in pieces, one larger than the bound, and one without a stream", async () => {
  const url = await serve((_request, reply) => {
    reply.write(Buffer.of(1, 255));
    setTimeout(() => reply.end(Buffer.of(0, 2)), 20);
  });
  expect(await boundedBytes(await fetch(url), 4)).toEqual(Uint8Array.of(1, 255, 0, 2));
  await expect(boundedBytes(await fetch(url), 3)).rejects.toMatchObject({
    name: "BodyTooLargeError",
  });
  const arrayBuffer = async () => Uint8Array.of(7).buffer;
  expect(await boundedBytes({ arrayBuffer }, 1)).toEqual(Uint8Array.of(7));
});

test("fetchWithin: the caller's signal, before and during the request: its reason", async () => {
  const caller = new AbortController();
  const url = await serve(() => caller.abort(new Error("stopped")));
  const limits = { ...LIMITS, signal: caller.signal };
  const request = () => fetchWithin(limits, (signal) => fetch(url, { signal }));
  await expect(request()).rejects.toThrow("stopped");
  await expect(request()).rejects.toThrow("stopped");
});

test("withTimeLimit: a limit beyond the longest timer: does not fire immediately", async () => {
  const run = () => new Promise((resolve) => setTimeout(resolve, 20, "done"));
  expect(await withTimeLimit({ timeoutMs: 2 ** 40 }, run)).toBe("done");
});

test("connectionErrorCode: a port without a listener, and another error", async () => {
  const server = createServer();
  const port = await listening(server);
  server.close();
  const refused = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
  expect(connectionErrorCode(refused)).toBe("ECONNREFUSED");
  // As in jest, whose modules have another `Error` than what Node throws.
  const elsewhere = 'Object.assign(new Error("no"), { cause: { code: "ECONNRESET" } })';
  expect(connectionErrorCode(runInNewContext(elsewhere))).toBe("ECONNRESET");
  expect(connectionErrorCode(new Error("other"))).toBeUndefined();
});
