/** `perpgate config`: what is in force and from where, and the catalog. */

import { expect, test } from "vitest";
import { catalogOf } from "../serve/settings-catalog.js";
import { commandHere } from "../testing/command-here.js";
import { configurationFile } from "../testing/perpgate-process.js";

interface InForce {
  readonly setting: string;
  readonly value: unknown;
  readonly source: string;
}

async function inForce(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { code, stdout } = await commandHere(["config", "--json", ...args], environment);
  expect(code).toBe(0);
  const rows: readonly InForce[] = JSON.parse(stdout);
  return new Map(rows.map(({ setting, value, source }) => [setting, { value, source }]));
}

test("in force: each value with the source that decided it", async () => {
  const file = configurationFile({
    host: "127.0.0.3",
    logLevel: "warn",
    port: 81,
    bots: { levels: 9 },
    markets: { BTCUSD: { takerFee: 0.001 } },
  });
  const rows = await inForce(["--config", file, "--port", "82"], { PERPGATE_HOST: "127.0.0.2" });
  expect(rows.get("port")).toEqual({ value: 82, source: "command line" });
  expect(rows.get("host")).toEqual({ value: "127.0.0.2", source: "environment" });
  expect(rows.get("logLevel")).toEqual({ value: "warn", source: file });
  expect(rows.get("bots.levels")).toEqual({ value: 9, source: file });
  expect(rows.get("bots")).toEqual({ value: true, source: file });
  expect(rows.get("bots.seed")).toEqual({ value: 1, source: "default" });
  expect(rows.get("http.bodyBytes")).toEqual({ value: 65_536, source: "default" });
  expect(rows.get("markets")).toMatchObject({
    value: [{ symbol: "BTCUSD", takerFee: 0.001 }, { symbol: "ETHUSD" }, { symbol: "SOLUSD" }],
    source: file,
  });
  const off = await inForce(["--no-bots"]);
  expect(off.get("bots")).toEqual({ value: false, source: "command line" });
});

test("in force: secrets are hidden, in JSON and in text", async () => {
  const secret = "ab".repeat(32);
  const file = configurationFile({
    auth: {
      nonceKey: secret,
      rpc: { 1: `https://rpc.example/v3/${secret}`, 10: "http://own:8545" },
    },
    log: {
      servers: [`nats://user:${secret}@127.0.0.1:4222`],
      user: "gateway",
      password: secret,
      token: secret,
    },
  });
  const rows = await inForce(["--config", file]);
  expect(rows.get("log.servers")?.value).toEqual(["nats://127.0.0.1:4222/(hidden)"]);
  expect(rows.get("auth.rpc")?.value).toEqual({
    1: "https://rpc.example/(hidden)",
    10: "http://own:8545",
  });
  expect(rows.get("auth.nonceKey")?.value).toBe("(hidden)");
  for (const args of [["config", "--json"], ["config"]]) {
    const { stdout } = await commandHere([...args, "--config", file]);
    expect(stdout).toContain("log.password");
    expect(stdout).not.toContain("abab");
  }
});

test("a wrong setting: one line, exit code 1", async () => {
  const { code, stderr } = await commandHere(["config", "--port", "65536"]);
  expect([code, stderr]).toEqual([1, 'perpgate: command line: "port" must be <= 65535\n']);
});

test("catalog: every setting with what it takes, its unit and its default", async () => {
  const { stdout } = await commandHere(["config", "--catalog", "--json"]);
  const rows: readonly { readonly setting: string }[] = JSON.parse(stdout);
  const entryOf = (setting: string) => rows.find((row) => row.setting === setting);
  expect(rows.length).toBeGreaterThan(100);
  expect(entryOf("http.drainGraceMs")).toEqual({
    setting: "http.drainGraceMs",
    takes: "a whole number, from 1 to 3600000, milliseconds",
    meaning: "time that requests in flight have after SIGTERM",
    default: 10_000,
  });
  expect(entryOf("cohort.stage")).toEqual({
    setting: "cohort.stage",
    takes: "one of closed, allowlist, open",
    meaning: "who may open positions: `open`, `allowlist` or `closed`",
    default: "open",
  });
  expect(entryOf("auth.nonceKey")).toMatchObject({ takes: "64 to 128 hex digits" });
  expect(entryOf("auth.nonceKey")).not.toHaveProperty("default");
  expect(entryOf("bots.levels")).toMatchObject({ takes: "a whole number, from 1 to 2000" });
  expect(catalogOf().filter(({ takes, meaning }) => takes === "" || meaning === "")).toEqual([]);
});
