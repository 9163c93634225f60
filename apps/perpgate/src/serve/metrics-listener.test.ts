import { once } from "node:events";
import { createServer } from "node:net";
import { MetricsText } from "@perpgate/gateway/metrics";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { listenForMetrics } from "./metrics-listener.js";

const LOG = pino({ level: "silent" });

async function listen(port: number | false | undefined, mainPort: number) {
  const metrics = port === undefined ? { host: "127.0.0.1" } : { host: "127.0.0.1", port };
  const text = new MetricsText(new Registry());
  const server = await listenForMetrics({ metrics, port: mainPort }, text, LOG);
  onTestFinished(() => server?.close());
  return server === undefined ? undefined : Number(new URL(server.url).port);
}

/** Occupies the port; returns the port number. */
async function occupy(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  const [error] = await Promise.race([once(server, "listening"), once(server, "error")]);
  // A port that another process uses is as good.
  if (error !== undefined) return port;
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : port;
}

test("a configured port in use: one line, no start", async () => {
  const taken = await occupy(0);
  await expect(listen(taken, 8080)).rejects.toThrow(
    `port ${taken} on 127.0.0.1 is taken; choose another as "metrics.port"`,
  );
});

test("no port configured and 9464 in use: a free one", async () => {
  await occupy(9464);
  const port = await listen(undefined, 8080);
  expect(port).toBeGreaterThan(0);
  expect(port).not.toBe(9464);
});

test("no port configured and a main port of 0: a free one", async () => {
  expect(await listen(undefined, 0)).not.toBe(9464);
});

test("no port configured and a main port of 9464: a free one, not the main port", async () => {
  expect(await listen(undefined, 9464)).not.toBe(9464);
});

test("port false: no listener", async () => {
  expect(await listen(false, 8080)).toBeUndefined();
});
