import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { coarseMarket } from "./testing/coarse-market.js";
import { configurationFile, PerpgateProcess, temporaryFolder } from "./testing/perpgate-process.js";

function serving(args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
  const data = join(temporaryFolder(), "deep", "data");
  const child = new PerpgateProcess(["--port", "0", "--data", data, ...args], environment);
  return { child, data };
}

async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

describe("serve", () => {
  test("default catalog: listed with a moving index, ready, data folder created", async () => {
    const { child, data } = serving();
    const url = await child.url();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const markets = await (await fetch(`${url}/v1/markets`)).json();
    expect(markets).toMatchObject([
      {
        symbol: "BTCUSD",
        base: "BTC",
        quote: "USD",
        maxLeverage: 50,
        tickSize: 0.1,
        indexPrice: expect.any(Number),
      },
      { symbol: "ETHUSD", maxLeverage: 50, tickSize: 0.01, lotSize: 0.0001 },
      { symbol: "SOLUSD", maxLeverage: 20, tickSize: 0.001, status: "active" },
    ]);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect(existsSync(data)).toBe(true);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s: drains, says so and exits 0", async (signal) => {
    const { child } = serving();
    const url = await child.url();
    await (await fetch(`${url}/healthz`)).text();
    await (await fetch(`${url}/v1/markets/BTCUSD/book`)).text();
    await (await fetch(`${url}/v1/markets/NOPE/book`)).text();
    child.signal(signal);
    const { code, stdout, stderr } = await child.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("TESTNET");
    expect(stderr).toContain("drained");
    // Refused requests are logged, and those that went well are not.
    expect(stderr).toContain('"path":"/v1/markets/NOPE/book","status":404');
    expect(stderr).not.toContain('"status":200');
  });

  test("npm start: passes flags on, and a SIGTERM to npm drains the gateway", async () => {
    const data = join(temporaryFolder(), "data");
    const npm = new PerpgateProcess(["--port", "0", "--data", data], {}, ["npm", "start", "--"]);
    const url = await npm.url();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    npm.signal("SIGTERM");
    expect(await npm.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("drained") });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test("--no-bots: the index still moves", async () => {
    const config = configurationFile({
      index: { intervalMs: 10, seed: 3 },
      limits: { readsPerSecond: 1e6, readsBurst: 1e6 },
    });
    const { child } = serving(["--no-bots", "--config", config]);
    const url = await child.url();
    const seen = new Set<string>();
    while (seen.size < 3) seen.add(await (await fetch(`${url}/v1/markets`)).text());
  });

  test("a configured catalog: any number of markets, volatility 0 holds still", async () => {
    const markets = ["AAA", "BBB", "CCC", "DDD"].map(coarseMarket);
    const config = configurationFile({ markets, index: { intervalMs: 10 } });
    const { child } = serving(["--config", config]);
    const url = await child.url();
    for (let round = 0; round < 20; round++) {
      const listed = await (await fetch(`${url}/v1/markets`)).json();
      expect(listed).toMatchObject(markets.map(({ symbol }) => ({ symbol, indexPrice: 12.5 })));
    }
  });

  test("flag before environment before file", async () => {
    const config = configurationFile({ host: "127.0.0.3", logLevel: "silent" });
    const fromFile = serving(["--config", config]);
    expect(await fromFile.child.url()).toContain("//127.0.0.3:");
    const environment = { PERPGATE_HOST: "127.0.0.2", PERPGATE_CONFIG: config };
    const fromEnvironment = serving([], environment);
    expect(await fromEnvironment.child.url()).toContain("//127.0.0.2:");
    const fromFlag = serving(["--host", "127.0.0.1"], environment);
    expect(await fromFlag.child.url()).toContain("//127.0.0.1:");
    fromFlag.child.signal("SIGTERM");
    expect((await fromFlag.child.ended).stderr).toBe("");
  });
});

const FEED_WITHOUT_PRICE = {
  index: { feeds: [{ name: "a", markets: { BTCUSD: { url: "http://a" } } }] },
};

describe("reasons not to start: one line, exit 1", () => {
  test("port taken", async () => {
    const port = await takenPort();
    const { child } = serving(["--port", String(port), "--log-level", "error"]);
    expect(await child.ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `perpgate: port ${port} on 127.0.0.1 is taken; choose another with --port\n`,
    });
  });

  test("a data folder that cannot be made", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const child = new PerpgateProcess(["--port", "0", "--data", join(file, "data")]);
    const { code, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^perpgate: data folder \S+ is not writable: ENOTDIR[^\n]*\n$/);
  });

  test.each<[string, unknown, string]>([
    ["not JSON", "{", "malformed|not valid JSON"],
    ["an unknown key", { prot: 1 }, 'unknown key "prot"'],
    ["an unknown key within", { http: { bodyByte: 1 } }, 'unknown key "http.bodyByte"'],
    ["a key twice", '{"port":1,"port":2}', '"port" appears twice'],
    ["a port as text", { port: "80" }, '"port" must be integer'],
    ["a port out of range", { port: 65536 }, '"port" must be <= 65535'],
    ["an unknown level", { logLevel: "loud" }, '"logLevel" must be one of trace'],
    ["no markets", { markets: [] }, '"markets" must NOT have fewer than 1 items'],
    ["half a market", { markets: [{ symbol: "BTCUSD" }] }, '"markets.0.base" is missing'],
    ["a short key", { auth: { nonceKey: "ab" } }, '"auth.nonceKey" must match'],
    ["an unknown limit", { limits: { orders: 5 } }, 'unknown key "limits.orders"'],
    ["a limit of nothing", { limits: { ordersBurst: 0 } }, '"limits.ordersBurst" must be >= 1'],
    ["a proxy of everyone", { server: { trustProxy: true } }, '"server.trustProxy" must be'],
    ["a stage nobody knows", { cohort: { stage: "ajar" } }, '"cohort.stage" must be one of closed'],
    ["a chain that is none", { auth: { rpc: { one: "http://a" } } }, 'unknown key "auth.rpc.one"'],
    [
      "a feed without a price",
      FEED_WITHOUT_PRICE,
      '"index.feeds.0.markets.BTCUSD.price" is missing',
    ],
    ["a list", [], "must be object"],
  ])("configuration with %s", async (_, content, expected) => {
    const { child } = serving(["--config", configurationFile(content)]);
    const { code, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^perpgate: \\S+perpgate\\.json: [^\\n]*(?:${expected})[^\\n]*\\n$`),
    );
  });

  test.each<[string, string[], object, string]>([
    ["a public address", ["--host", "0.0.0.0"], {}, '"auth.domains" must list the domains'],
    ["a trusted proxy", [], { server: { trustProxy: 1 } }, '"auth.domains" must list the domains'],
    [
      "fewer feeds than the quorum",
      [],
      { index: { source: "http", feeds: [{ name: "a", markets: {} }] } },
      '"index.feeds": BTCUSD has 0 of the 2 feeds',
    ],
  ])("%s", async (_, args, content, expected) => {
    const { child } = serving([...args, "--config", configurationFile(content)]);
    const { code, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`perpgate: ${expected}`);
  });

  test("a data folder that another process serves", async () => {
    const { child, data } = serving();
    await child.url();
    const second = new PerpgateProcess(["--port", "0", "--data", data]);
    const { code, stderr } = await second.ended;
    expect(code).toBe(1);
    expect(stderr).toContain("perpgate: the journal in");
    expect(stderr).toMatch(
      /is in use by process \d+; stop it, or choose another folder with --data/,
    );
  });

  test.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ["a missing file", ["--config", "/nowhere/x.json"], {}, "cannot read /nowhere/x.json: ENOENT"],
    ["a port that is no number", ["--port", "http"], {}, '--port: "http" is not a whole number'],
    ["a port out of range", ["--port", "65536"], {}, 'command line: "port" must be <= 65535'],
    ["an unknown variable", [], { PERPGATE_PROT: "1" }, "unknown variable PERPGATE_PROT"],
    ["a wrong variable", [], { PERPGATE_PORT: "x" }, 'PERPGATE_PORT: "x" is not a whole number'],
    ["a wrong switch", [], { PERPGATE_NO_BOTS: "maybe" }, "PERPGATE_NO_BOTS"],
    ["a wrong level", [], { PERPGATE_LOG_LEVEL: "loud" }, 'environment: "logLevel" must be one of'],
  ])("%s", async (_, args, environment, expected) => {
    const { code, stderr } = await new PerpgateProcess(args, environment).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`perpgate: ${expected}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each<[string, string[], string]>([
    ["an unknown flag", ["--prot", "1"], "Unknown option '--prot'"],
    ["an unknown command", ["dance"], 'unknown command "dance"'],
    ["one argument too many", ["serve", "now"], 'unexpected argument "now"'],
  ])("%s: exit 2", async (_, args, expected) => {
    const { code, stderr } = await new PerpgateProcess(args).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(`perpgate: ${expected}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("help and version", () => {
  test("--help: every flag and its variable, exit 0", async () => {
    const { code, stdout } = await new PerpgateProcess(["--help"]).ended;
    expect(code).toBe(0);
    for (const flag of ["--port", "--host", "--data", "--config", "--no-bots", "--log-level"]) {
      expect(stdout).toContain(flag);
    }
    expect(stdout).toContain("PERPGATE_LOG_LEVEL");
  });

  test("--version: the release, exit 0", async () => {
    expect(await new PerpgateProcess(["--version"]).ended).toMatchObject({
      code: 0,
      stdout: "0.1.0-testnet\n",
    });
  });
});
