/** The command as a test in another language uses it: started, driven over HTTP, stopped. */

import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../bin/perpgate.js", import.meta.url));

interface Started {
  readonly url: string;
  readonly control: string;
  stop(): Promise<number | null>;
}

async function started(...words: string[]): Promise<Started> {
  const child = spawn(process.execPath, [PROGRAM, "sandbox", "--json", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const { url, control } = JSON.parse(await firstLine(child.stdout));
  return {
    url: String(url),
    control: String(control),
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

async function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input })) return line;
  throw new Error("the sandbox ended without a line");
}

test("sandbox: an SDK bot signs in with its own clock, has dollars, trades, is liquidated in a crash", async () => {
  const { url, control, stop } = await started("--speed", "20", "--port", "0", "--control", "0");
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const session = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  await expect.poll(async () => (await session.account()).balance).toBe(10_000);
  const order = {
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 1_000,
    leverage: 40,
  } as const;
  expect(await session.placeOrder(order)).toMatchObject({ status: "filled" });
  await fetch(`${control}/crash`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ symbol: "BTCUSD", by: 0.1, within: "5s" }),
  });
  await expect.poll(() => session.positions(), { timeout: 60_000 }).toEqual([]);
  client.close();
  expect(await stop()).toBe(0);
});

test("sandbox --manual: the state, an hour, the hash of a seed", async () => {
  const hash = async () => {
    const { control, stop } = await started(
      "--manual",
      "--seed",
      "7",
      "--port",
      "0",
      "--control",
      "0",
    );
    const post = async (path: string, body: object) =>
      fetch(control + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await post("/traders", { funds: 1_234.5 })).status).toBe(200);
    expect((await post("/advance", { duration: "1m" })).status).toBe(200);
    const answer = await (await fetch(`${control}/log-hash`)).json();
    expect(await stop()).toBe(0);
    return answer;
  };
  expect(await hash()).toEqual(await hash());
});

test("sandbox --scenario: says when it is over; a bad file is one line with its place", async () => {
  const child = spawn(
    process.execPath,
    [
      PROGRAM,
      "sandbox",
      "--scenario",
      "jumping-index",
      "--speed",
      "50",
      "--port",
      "0",
      "--control",
      "0",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith("over")) break;
  }
  expect(lines.at(-2)).toMatch(/^plays +jumping-index: The index jumps/);
  const file = join(mkdtempSync(join(tmpdir(), "perpgate-scenario-")), "mine.txt");
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, "10s  pryce BTCUSD 1\n");
  const words = [PROGRAM, "sandbox", "--scenario", file];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain(`${file}:1:6: no action is called pryce`);
});

test.each([["--scenario"], ["--report"]])("sandbox %s FOLDER: one line", (option) => {
  const words = [PROGRAM, "sandbox", option, tmpdir()];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^perpgate: EISDIR: [^\n]*\n$/)]);
});

test("sandbox --replay: plays as fast as it can, says how fast; a bad file is one line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "trades.csv");
  writeFileSync(
    file,
    "time_ms,symbol,price,size,taker_side\n0,BTC,61000,1,long\n60000,BTC,61500,1,long\n",
  );
  const words = [PROGRAM, "sandbox", "--port", "0", "--control", "0", "--replay"];
  const child = spawn(process.execPath, [...words, file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith("over")) break;
  }
  expect(lines.at(-1)).toMatch(/^over +0 book updates and 2 trades, \d+ times the clock/);
  writeFileSync(file, "time_ms,symbol,price,size,taker_side\n0,BTC,cheap,1,long\n");
  const { status, stderr } = spawnSync(process.execPath, [...words, file], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringContaining("trades.csv:2: price is a number")]);
});

test("sandbox --replay: paused from outside time stands; run again, it goes on to its end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-replay-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "trades.csv");
  const minutes = Array.from({ length: 3_000 }, (_, at) => `${at * 60_000},BTC,61000,1,long`);
  writeFileSync(file, ["time_ms,symbol,price,size,taker_side", ...minutes].join("\n"));
  const words = [PROGRAM, "sandbox", "--json", "--port", "0", "--control", "0", "--replay", file];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  const { control } = await next();
  const state = async () => JSON.parse(await (await fetch(`${control}/state`)).text());
  const setSpeed = (speed: number) =>
    fetch(`${control}/time`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ speed }),
    });
  await expect
    .poll(async () => (await state()).replay?.trades, { timeout: 60_000 })
    .toBeGreaterThan(2);
  expect(await state()).toMatchObject({ isManual: false, replay: { isOver: false } });
  await setSpeed(0);
  const paused = await state();
  expect(paused).toMatchObject({ isManual: true, replay: { isOver: false } });
  expect((await state()).time).toBe(paused.time);
  await setSpeed(10_000);
  const { replayed } = await next();
  expect(replayed).toMatchObject({ trades: 3_000 });
});

test("sandbox report: of one that runs, of a file, of both side by side", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "first.json");
  const words = ["--manual", "--port", "0", "--control", "0", "--report", file];
  const { control, stop } = await started(...words);
  await fetch(`${control}/traders`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const report = (...runs: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, "sandbox", "report", ...runs]);
  const { stdout: live } = await report(control);
  expect(live).toMatch(/^trader 1, \w{40}\n {2}PnL, dollars +0\n/);
  expect(await stop()).toBe(0);
  const page = join(folder, "runs.html");
  await report(file, file, "--format", "html", "--out", page);
  expect(readFileSync(page, "utf8")).toContain("<th>first</th><th>first</th>");
  await expect(report(PROGRAM)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no JSON"),
  });
});

const EXAMPLES = [
  ["Python", "python3", ["--version"], [example("sandbox_fixture.py")]],
  ["Go", "go", ["version"], ["run", example("sandbox.go")]],
] as const;

for (const [language, program, version, run] of EXAMPLES) {
  const isMissing = spawnSync(program, version).status !== 0;
  if (isMissing && process.env[`REQUIRE_${language.toUpperCase()}`] === "1") {
    throw new Error(`REQUIRE_${language.toUpperCase()} is set, but there is no ${program}`);
  }
  if (isMissing)
    process.stderr.write(`no ${program}: the sandbox's example for it is not tested\n`);
  test.skipIf(isMissing)(
    `${language}, with its standard library: buys, crashes, is stopped`,
    () => {
      const words = [...run, process.execPath, PROGRAM];
      const { status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^bought at 65\d\d\d[^,]*, stopped at (?:5|60)\d\d\d/);
    },
  );
}

function example(name: string): string {
  return fileURLToPath(new URL(`../../../../examples/${name}`, import.meta.url));
}
