import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Gauge, Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { MetricsServer } from "./metrics-server.js";
import { MetricsText } from "./metrics-text.js";

/** A registry that counts its collections, and a clock that the test sets. */
function countedText() {
  const registry = new Registry();
  const time = { nowMs: 0 };
  const state = { collections: 0, failure: undefined as Error | undefined };
  new Gauge({
    name: "collections",
    help: "How often this was collected.",
    registers: [registry],
    collect() {
      state.collections++;
      if (state.failure !== undefined) throw state.failure;
      this.set(state.collections);
    },
  });
  return { text: new MetricsText(registry, () => time.nowMs), time, state };
}

async function listen() {
  const counted = countedText();
  const server = await MetricsServer.listen(counted.text, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  return { ...counted, url: server.url };
}

async function connectTo(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function everything(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(socket, "close");
  return text;
}

test("GET: the text of the registry, collected at most once a second", async () => {
  const { url, time, state } = await listen();
  const first = await ask(url);
  expect(first.status).toBe(200);
  expect(first.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(first.text).toContain("collections 1");
  time.nowMs = 999;
  const [second, third] = await Promise.all([ask(url), ask(url)]);
  expect([second.text, third.text]).toEqual([first.text, first.text]);
  time.nowMs = 1_000;
  const [fourth] = await Promise.all([ask(url), ask(url)]);
  expect(fourth.text).toContain("collections 2");
  expect(state.collections).toBe(2);
});

test("GET: a collection that fails is answered 500, and the next request tries again", async () => {
  const { url, state } = await listen();
  state.failure = new Error("no figures");
  expect((await ask(url)).body.code).toBe("internal_error");
  state.failure = undefined;
  expect((await ask(url)).status).toBe(200);
});

test("other paths and methods: refused in the one shape of errors", async () => {
  const { url, state } = await listen();
  const missing = await ask(url.replace("/metrics", `/${"x".repeat(4_000)}`));
  expect(missing).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(missing.text.length).toBeLessThan(600);
  const posted = await ask(url, { method: "POST" });
  expect(posted).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
  expect(posted.headers.get("allow")).toBe("GET, HEAD");
  expect(state.collections).toBe(0);
});

test("1,000 pipelined requests: one text, one collection, and the connection is closed", async () => {
  const { url, state } = await listen();
  const socket = await connectTo(url);
  const answers = everything(socket);
  socket.write("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_000));
  expect((await answers).match(/# TYPE collections/g)).toHaveLength(1);
  expect(state.collections).toBe(1);
});

test("16 connections that stay silent: the next is closed without an answer", async () => {
  const { url } = await listen();
  const silent = await Promise.all(Array.from({ length: 16 }, () => connectTo(url)));
  expect(await everything(await connectTo(url))).toBe("");
  const closed = once(silent[0]!, "close");
  silent[0]!.end("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n").resume();
  await closed;
  expect((await ask(url)).status).toBe(200);
});
