import { once } from "node:events";
import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openJournal } from "@perpgate/journal";
import { descendantsOf, POLL } from "@perpgate/journal/testing";
import { listening } from "@perpgate/protocol/testing";
import { NO_EVIDENCE, newLogKey, Venue } from "@perpgate/venue";
import { describe, expect, onTestFinished, test } from "vitest";
import { coarseMarket } from "../testing/coarse-market.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { createPrivateFile } from "../trader/private-file.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { DEFAULT_SETTINGS } from "./settings.js";
import { venueTermsOf } from "./venue-opening.js";

/** The one program that a start needs: where the kernel's lock is taken by it. */
function flockProgram(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, "flock")).find(existsSync) ?? "/usr/bin/flock";
}

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
  return listening(server);
}

/** Sends the signal; expects a drain and exit code 0; returns standard error. */
async function drained(child: PerpgateProcess, signal: NodeJS.Signals): Promise<string> {
  child.signal(signal);
  const { code, stdout, stderr } = await child.ended;
  expect(code).toBe(0);
  expect(stdout).toContain("TESTNET");
  expect(stderr).toContain("drained");
  return stderr;
}

/** A request whose body never arrives: the drain waits for it. */
async function endlessRequest(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on("error", () => undefined);
  socket.write(
    "POST /v1/auth/siwe HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n" +
      "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
  );
  await once(socket, "data");
}

/** Fills the log of a new data folder, and removes what was derived from it. */
async function makeLog(directory: string): Promise<void> {
  const venue = await Venue.open({
    directory,
    ...venueTermsOf(DEFAULT_SETTINGS, bridgeOf(DEFAULT_SETTINGS, undefined)),
    cohort: DEFAULT_SETTINGS.cohort.stage,
    checkpoints: null,
    ticks: false,
    commit: "inline",
  });
  const slot = Math.floor(venue.nowMs() / 200);
  const update = (at: number) => {
    const index = { market: 0, indexTicks: 650_000 + at, slot: slot + at } as const;
    return venue.submitted(
      { kind: "UpdateIndex", stampMs: venue.nowMs(), ...index },
      NO_EVIDENCE,
      () => undefined,
    );
  };
  for (let from = 0; from < 30_000; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => update(from + at)));
  }
  await venue.close();
  rmSync(join(directory, "history"), { recursive: true });
}

describe("serve", () => {
  test("SIGTERM while the log is replayed, three times: exit 0, the history is used after it", async () => {
    const data = temporaryFolder();
    await makeLog(data);
    createPrivateFile(join(data, "log.key"), `${newLogKey().secret}\n`);
    const start = () => new PerpgateProcess(["--port", "0", "--data", data]);
    for (let round = 0; round < 3; round++) {
      const child = start();
      await child.printed(/"recovering"/, "stderr");
      child.signal("SIGTERM");
      expect(await child.ended).toMatchObject({ code: 0 });
    }
    const last = start();
    await last.url();
    expect(await drained(last, "SIGTERM")).not.toContain("rebuilt");
  });

  test("Ctrl-C, and again during the drain: ends immediately", async () => {
    const longMs = 3_600_000;
    const http = { drainGraceMs: longMs, requestTimeoutMs: longMs, idleTimeoutMs: longMs };
    const { child } = serving(["--config", configurationFile({ http })]);
    const url = await child.url();
    await endlessRequest(url);
    child.signal("SIGINT");
    const isListening = () =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      );
    await expect.poll(isListening, POLL).toBe(false);
    // As a person would: soon after the first one it is taken as the same.
    const again = setInterval(() => child.signal("SIGINT"), 100);
    const ended = await child.ended;
    clearInterval(again);
    expect(ended).toMatchObject({ code: null, signal: "SIGINT" });
  });

  test("default catalog: listed, ready, data folder created; failed requests logged; SIGTERM drains", async () => {
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
    await (await fetch(`${url}/v1/markets/BTCUSD/book`)).text();
    await (await fetch(`${url}/v1/markets/NOPE/book`)).text();
    // Without bots the index moves too.
    const seen = new Set<string>();
    await expect
      .poll(async () => seen.add(await (await fetch(`${url}/v1/markets`)).text()).size, {
        timeout: 50_000,
        interval: 100,
      })
      .toBeGreaterThan(2);
    const stderr = await drained(child, "SIGTERM");
    // Failed requests are logged, successful ones are not.
    expect(stderr).toContain('"path":"/v1/markets/NOPE/book","status":404');
    expect(stderr).not.toContain('"status":200');
  });

  test("npm start: forwards flags, and a signal to npm and to the gateway drains it", async () => {
    const data = join(temporaryFolder(), "data");
    const npm = new PerpgateProcess(["--port", "0", "--data", data], {}, ["npm", "start", "--"]);
    const url = await npm.url();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    // As a terminal does it: to both, and npm passes its own on.
    for (const pid of descendantsOf(npm.pid)) process.kill(pid, "SIGINT");
    npm.signal("SIGTERM");
    expect(await npm.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("drained") });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  test("scripts/start.cjs: builds and starts without npm and without any shell; SIGTERM drains", async () => {
    const programs = temporaryFolder();
    symlinkSync(flockProgram(), join(programs, "flock"));
    const start = fileURLToPath(new URL("../../../../scripts/start.cjs", import.meta.url));
    const args = ["--port", "0", "--data", join(temporaryFolder(), "data")];
    const child = new PerpgateProcess(args, { PATH: programs }, [process.execPath, start]);
    await child.url();
    await drained(child, "SIGTERM");
  });

  test("a configured catalog: any number of markets, a constant price; flags before environment before file", async () => {
    const markets = ["AAA", "BBB", "CCC", "DDD"].map(coarseMarket);
    const config = configurationFile({
      markets,
      index: { intervalMs: 10 },
      host: "127.0.0.3",
      logLevel: "silent",
    });
    const environment = { PERPGATE_HOST: "127.0.0.2", PERPGATE_CONFIG: config };
    const { child } = serving(["--host", "127.0.0.4"], environment);
    const url = await child.url();
    expect(url).toContain("//127.0.0.4:");
    for (let round = 0; round < 20; round++) {
      const listed = await (await fetch(`${url}/v1/markets`)).json();
      expect(listed).toMatchObject(markets.map(({ symbol }) => ({ symbol, indexPrice: 12.5 })));
    }
    child.signal("SIGTERM");
    expect((await child.ended).stderr).toBe("");
  });
});

test("configure with a new market: it gets an index without a restart", async () => {
  const [first, second] = ["AAA", "BBB"].map(coarseMarket);
  const index = { intervalMs: 10 };
  const { child, data } = serving(["--config", configurationFile({ markets: [first], index })]);
  const url = await child.url();
  const config = configurationFile({ markets: [first, second], index });
  const command = new PerpgateProcess(["configure", "--config", config, "--data", data]);
  expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
  const markets = await (await fetch(`${url}/v1/markets`)).json();
  expect(markets).toMatchObject([{ indexPrice: 12.5 }, { indexPrice: 12.5 }]);
  await child.printed(
    /"source":"simulated","markets":\["AAAUSD","BBBUSD"\].*"the index source was replaced"/,
    "stderr",
  );
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

describe("reasons not to start: one line, exit 1", () => {
  test.each([
    ["port", (port: number) => ["--port", String(port)], "with --port"],
    [
      "port of the metrics",
      (port: number) => ["--config", configurationFile({ metrics: { port } })],
      'as "metrics.port"',
    ],
  ])("a taken %s: neither a data folder nor a key is made", async (_, argsOf, advice) => {
    const port = await takenPort();
    const { child, data } = serving([...argsOf(port), "--log-level", "error"]);
    expect(await child.ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `perpgate: port ${port} on 127.0.0.1 is taken; choose another ${advice}\n`,
    });
    expect(existsSync(dirname(data))).toBe(false);
  });

  test("a heap that is too small for the state: the flag to set, and nothing is made", async () => {
    const { child, data } = serving([], { NODE_OPTIONS: "--max-old-space-size=64" });
    expect(await child.ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "perpgate: the heap of this process is limited to 64 MiB, and the state of this data folder " +
        "needs 96 MiB or more: start node with --max-old-space-size=512\n",
    });
    expect(existsSync(dirname(data))).toBe(false);
  });

  test("a data folder that cannot be created", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const child = new PerpgateProcess(["--port", "0", "--data", join(file, "data")]);
    const { code, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^perpgate: data folder \S+ is not writable: (?:ENOTDIR|EEXIST)[^\n]*\n$/,
    );
  });

  test.each([
    ["serve", ["--port", "0", "--data"]],
    ["verify", ["verify", "--data"]],
    ["backup", ["backup", "--to", "never-made", "--data"]],
  ])("%s on a data folder of release 0.1: one line with both versions", async (_, args) => {
    const data = temporaryFolder();
    const journal = await openJournal({ directory: join(data, "journal"), segmentBytes: 1 << 20 });
    await journal.append({ writer: "0".repeat(32), counter: 0 }, [Buffer.from("Genesis")]);
    await journal.close();
    // The letters that begin its first batch name the format.
    const segment = await open(join(data, "journal", "0000000001.log"), "r+");
    await segment.write("PGB1", 64, "latin1");
    await segment.close();
    const { code, stdout, stderr } = await new PerpgateProcess([...args, data]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "perpgate: the log was begun by release 0.1, engine version 1, and this release knows " +
        "engine versions 2, 3; a venue of 0.1 cannot be continued: begin a new data folder\n",
    );
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

  // One per source; configuration.test.ts has the rest.
  test.each<[string, string[], NodeJS.ProcessEnv, object, RegExp]>([
    ["a key of the file", [], {}, { prot: 1 }, /^perpgate: \S+\.json: unknown key "prot"\n$/],
    [
      "a variable",
      [],
      { PERPGATE_PROT: "1" },
      {},
      /^perpgate: unknown variable PERPGATE_PROT.*\n$/,
    ],
    ["an address", ["--host", "0.0.0.0"], {}, {}, /^perpgate: "auth\.domains" must list .*\n$/],
  ])("%s", async (_, args, environment, content, expected) => {
    const { child } = serving([...args, "--config", configurationFile(content)], environment);
    const { code, stdout, stderr } = await child.ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(expected);
  });

  test.each<[string, string[], string]>([
    ["an unknown flag", ["--prot", "1"], "unknown option '--prot'"],
    [
      "a command's flag before its name",
      ["--url", "http://127.0.0.1:9000", "markets"],
      "unknown option '--url'; flags come after the command: perpgate markets …",
    ],
    [
      "a flag of serve before another command",
      ["--port", "9000", "markets"],
      "flags come after the command: perpgate markets …",
    ],
    ["an unknown command", ["dance"], 'unknown command "dance"'],
    ["one argument too many", ["serve", "now"], "too many arguments for 'serve'"],
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

  test("--version: the release and the Node that runs it, exit 0", async () => {
    expect(await new PerpgateProcess(["--version"]).ended).toMatchObject({
      code: 0,
      stdout: `0.2.0-testnet, Node ${process.versions.node}\n`,
    });
  });
});
