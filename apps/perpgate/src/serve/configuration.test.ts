/**
 * What an operator wrote, judged by the functions that a start calls first. That such a refusal
 * becomes one line and an exit code is tested with real processes, in process.system.test.ts.
 */

import { readFileSync } from "node:fs";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { StartError } from "../cli/start-error.js";
import { coarseMarket } from "../testing/coarse-market.js";
import { configurationFile } from "../testing/perpgate-process.js";
import { readConfiguration } from "./configuration.js";
import { refuseMissingFeeds } from "./index-source.js";
import { addServeOptions, flagSettings, type ServeOptions } from "./options.js";
import type { Settings } from "./settings.js";
import { SettingsSchema } from "./settings-schema.js";
import { signInRulesOf } from "./sign-in-settings.js";

function settingsOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Settings {
  const command = addServeOptions(new Command()).exitOverride();
  command.parse(args, { from: "user" });
  return readConfiguration(flagSettings(command.opts<ServeOptions>()), environment);
}

/** The text that the operator reads. */
function refusalOf(start: () => unknown): string {
  try {
    start();
  } catch (error) {
    if (error instanceof StartError && error.exitCode === 1) return error.text;
    throw error;
  }
  throw new Error("not refused");
}

test("flag before environment before file before default", () => {
  const config = configurationFile({ host: "127.0.0.3", logLevel: "silent" });
  const environment = { PERPGATE_HOST: "127.0.0.2", PERPGATE_CONFIG: config };
  const hosts = [
    settingsOf([]),
    settingsOf(["--config", config]),
    settingsOf([], environment),
    settingsOf(["--host", "127.0.0.4"], environment),
  ].map(({ host, logLevel }) => `${host} ${logLevel}`);
  expect(hosts).toEqual([
    "127.0.0.1 info",
    "127.0.0.3 silent",
    "127.0.0.2 silent",
    "127.0.0.4 silent",
  ]);
});

test("every flag and every variable sets its setting", () => {
  const config = configurationFile({ cohort: { stage: "closed" } });
  const given = {
    port: "81",
    host: "127.0.0.9",
    data: "folder",
    log: "nats://127.0.0.1:4222",
    name: "east",
    edges: "3",
    region: "East 1",
    config,
    "segment-mib": "2",
    "metrics-host": "127.0.0.8",
    "no-bots": "true",
    "log-level": "warn",
  };
  const expected = {
    port: 81,
    host: "127.0.0.9",
    data: "folder",
    log: { servers: ["nats://127.0.0.1:4222"] },
    name: "east",
    edges: 3,
    region: "East 1",
    cohort: { stage: "closed" },
    segmentMiB: 2,
    metrics: { host: "127.0.0.8" },
    bots: { areWanted: false },
    logLevel: "warn",
  };
  const names = addServeOptions(new Command()).options.map(({ long }) => long?.slice(2));
  expect(names.filter((name) => !name?.startsWith("accept-")).sort()).toEqual(
    Object.keys(given).sort(),
  );
  const flags = Object.entries(given).flatMap(([name, value]) =>
    name === "no-bots" ? [`--${name}`] : [`--${name}`, value],
  );
  const variables = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      `PERPGATE_${name.toUpperCase().replaceAll("-", "_")}`,
      value,
    ]),
  );
  expect(settingsOf(flags)).toMatchObject(expected);
  expect(settingsOf([], variables)).toMatchObject(expected);
});

test("markets by symbol: changes of the defaults, new ones after them, false leaves one out", () => {
  const ada = { ...coarseMarket("ADA") };
  const { symbol: _, ...terms } = ada;
  const markets = { SOLUSD: false, BTCUSD: { takerFee: 0.001 }, ADAUSD: terms };
  const listed = settingsOf(["--config", configurationFile({ markets })]).markets;
  const [btc, eth] = DEFAULT_MARKETS;
  expect(listed).toEqual([{ ...btc, takerFee: 0.001 }, eth, ada]);
  const index = { annualVolatility: 0 };
  const still = configurationFile({ markets: { ETHUSD: { index } } });
  expect(settingsOf(["--config", still]).markets[1]?.index).toEqual({ ...eth?.index, ...index });
  // A list is the whole catalog, as it always was.
  const list = configurationFile({ markets: [ada] });
  expect(settingsOf(["--config", list]).markets).toEqual([ada]);
});

test("every pattern and every union of the settings says in words what it takes", () => {
  const without: string[] = [];
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const isWordless = !("description" in schema);
    if (("pattern" in schema || "anyOf" in schema) && isWordless) without.push(path);
    for (const [key, value] of Object.entries(schema)) walk(value, `${path}/${key}`);
  };
  walk(SettingsSchema.properties, "");
  // Symbols of markets are checked by name.
  expect(without).toEqual([]);
});

test("every key of the file is documented", () => {
  const pages = ["configuration", "deposits", "receipts", "withdrawals"].map((name) =>
    readFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), "utf8"),
  );
  const text = pages.join("\n");
  const keys = keysOf(SettingsSchema);
  expect(keys.length).toBeGreaterThan(100);
  const isNamed = (path: string) =>
    text.includes(`\`${path}\``) || text.includes(`\`${path.split(".").at(-1)}\``);
  expect(keys.filter((path) => !isNamed(path))).toEqual([]);
});

/** `a.b` for the keys of sections, `a` for the others. */
function keysOf(schema: { readonly properties: object }, before = ""): readonly string[] {
  return Object.entries(schema.properties).flatMap(([name, value]) =>
    value.properties === undefined ? [before + name] : keysOf(value, `${before}${name}.`),
  );
}

const FEED_WITHOUT_PRICE = {
  index: { feeds: [{ name: "a", markets: { BTCUSD: { url: "http://a" } } }] },
};

test.each([[["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "10.0.0.0/255.0.0.0"]], [["loopback"]]])(
  "proxies by their addresses and networks: %s",
  (trustProxy) => {
    const config = configurationFile({ server: { trustProxy } });
    expect(settingsOf(["--config", config]).server.trustProxy).toEqual(trustProxy);
  },
);

describe("refused: in one line", () => {
  test.each<[string, unknown, string]>([
    ["not JSON", "{", "malformed|not valid JSON"],
    ["an unknown key", { prot: 1 }, 'unknown key "prot"'],
    ["an unknown key within", { http: { bodyByte: 1 } }, 'unknown key "http.bodyByte"'],
    ["a key twice", '{"port":1,"port":2}', '"port" appears twice'],
    ["a port as text", { port: "80" }, '"port" must be integer'],
    ["a port out of range", { port: 65536 }, '"port" must be <= 65535'],
    ["an unknown level", { logLevel: "loud" }, '"logLevel" must be one of trace'],
    ["no markets", { markets: [] }, '"markets" must be a list of one market or more'],
    [
      "no markets left",
      { markets: { BTCUSD: false, ETHUSD: false, SOLUSD: false } },
      "leaves no market",
    ],
    [
      "a new market without a tick",
      { markets: { ADAUSD: { base: "ADA", quote: "USD" } } },
      '"markets.ADAUSD.tickSize" is missing',
    ],
    [
      "an unknown key of a market",
      { markets: { BTCUSD: { fee: 1 } } },
      'unknown key "markets.BTCUSD.fee"',
    ],
    [
      "markets as a number",
      { markets: 3 },
      '"markets" must be a list of one market or more, or an object',
    ],
    [
      "a url without http",
      { auth: { rpc: { 1: "ftp://a" } } },
      '"auth.rpc.1" must be an address that begins with http',
    ],
    [
      "a wrong symbol",
      { markets: { ADAEUR: { ...coarseMarket("ADA"), symbol: undefined } } },
      "ADAEUR must be base and quote",
    ],
    ["half a market", { markets: [{ symbol: "BTCUSD" }] }, '"markets.0.base" is missing'],
    ["a short key", { auth: { nonceKey: "ab" } }, '"auth.nonceKey" must be 64 to 128 hex digits'],
    ["an unknown limit", { limits: { orders: 5 } }, 'unknown key "limits.orders"'],
    ["a limit of nothing", { limits: { ordersBurst: 0 } }, '"limits.ordersBurst" must be >= 1'],
    [
      "a proxy of everyone",
      { server: { trustProxy: true } },
      '"server.trustProxy" must be false, the number of proxies from 1 to 10, or a list',
    ],
    [
      "a proxy by name",
      { server: { trustProxy: ["10.0.0.0/8", "proxy.internal"] } },
      '"server.trustProxy": "proxy.internal" is not an IP address or network',
    ],
    [
      "a network that is none",
      { server: { trustProxy: ["10.0.0.0/33"] } },
      '"server.trustProxy": "10.0.0.0/33" is not an IP address or network',
    ],
    [
      "orders that the log cannot keep",
      { limits: { signedBytes: 204_801 } },
      '"limits.signedBytes" must be <= 204800',
    ],
    [
      "batches that the log cannot keep",
      { limits: { batchBytes: 204_801 } },
      '"limits.batchBytes" must be <= 204800',
    ],
    ["a stage nobody knows", { cohort: { stage: "ajar" } }, '"cohort.stage" must be one of closed'],
    ["a chain that is none", { auth: { rpc: { one: "http://a" } } }, 'unknown key "auth.rpc.one"'],
    [
      "a feed without a price",
      FEED_WITHOUT_PRICE,
      '"index.feeds.0.markets.BTCUSD.price" is missing',
    ],
    ["a list", [], "must be object"],
  ])("a file with %s", (_, content, expected) => {
    const config = configurationFile(content);
    expect(refusalOf(() => settingsOf(["--config", config]))).toMatch(
      new RegExp(`^perpgate: \\S+perpgate\\.json: [^\\n]*(?:${expected})[^\\n]*\\n$`),
    );
  });

  test.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ["a missing file", ["--config", "/nowhere/x.json"], {}, "cannot read /nowhere/x.json: ENOENT"],
    ["a port that is no number", ["--port", "http"], {}, '--port: "http" is not a whole number'],
    ["a port out of range", ["--port", "65536"], {}, 'command line: "port" must be <= 65535'],
    ["a wrong variable", [], { PERPGATE_PORT: "x" }, 'PERPGATE_PORT: "x" is not a whole number'],
    ["a wrong switch", [], { PERPGATE_NO_BOTS: "maybe" }, "PERPGATE_NO_BOTS"],
    ["a wrong level", [], { PERPGATE_LOG_LEVEL: "loud" }, 'environment: "logLevel" must be one of'],
  ])("%s", (_, args, environment, expected) => {
    const text = refusalOf(() => settingsOf(args, environment));
    expect(text).toContain(`perpgate: ${expected}`);
    expect(text).toMatch(/^[^\n]+\n$/);
  });

  test("sockets with more room than may wait", () => {
    const config = configurationFile({ sockets: { maxBufferedBytes: 65_536 } });
    expect(refusalOf(() => settingsOf(["--config", config]))).toBe(
      'perpgate: "sockets.roomBytes" (131072) must not be above "sockets.maxBufferedBytes" (65536)\n',
    );
  });

  test.each([
    ["headers", { headersTimeoutMs: 30_000 }, "(30000)", "(20000)"],
    ["a request", { requestTimeoutMs: 5_000 }, "(10000)", "(5000)"],
  ])("more time for headers than for their request, by that of %s", (_, http, headers, all) => {
    expect(refusalOf(() => settingsOf(["--config", configurationFile({ http })]))).toBe(
      `perpgate: "http.headersTimeoutMs" ${headers} must not be above "http.requestTimeoutMs" ${all}\n`,
    );
  });

  test("a trusted proxy without a list of domains", () => {
    const config = configurationFile({ server: { trustProxy: 1 } });
    const settings = settingsOf(["--config", config]);
    expect(refusalOf(() => signInRulesOf(settings, "dev"))).toContain(
      'perpgate: "auth.domains" must list the domains',
    );
  });

  test("fewer feeds than the quorum", () => {
    const index = { source: "http", feeds: [{ name: "a", markets: {} }] };
    const settings = settingsOf(["--config", configurationFile({ index })]);
    const start = () => refuseMissingFeeds(settings);
    expect(refusalOf(start)).toContain('perpgate: "index.feeds": BTCUSD has 0 of the 2 feeds');
  });
});
