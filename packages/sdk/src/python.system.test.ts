/**
 * The Python package (python/): its unit tests, with and without its optional library, and its tests
 * against a real venue, whose time and network are in this test's hands.
 */

import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CuttingProxy, newFolder, type RunningVenue } from "@perpgate/gateway/testing";
import { TestCosigner } from "@perpgate/protocol/testing";
import { judgeReceipt } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pythonVectors } from "./testing/python-vectors.js";
import { ASK, BID, newClient, newSession, startVenue } from "./testing/venue.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PACKAGE = join(ROOT, "python");
const TESTS = join(PACKAGE, "tests");
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const { key: logKey } = newLogKey("venue.example/log");

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: readonly string[];
}

/** Runs Python; a line `@command` of it is answered by `command`. */
async function python(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  command: (text: string) => Promise<string> = async () => "",
): Promise<Ended> {
  const child = spawn("python3", args, {
    env: {
      ...process.env,
      PYTHONPATH: join(PACKAGE, "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      ...environment,
    },
  });
  const stdout: string[] = [];
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("@")) child.stdin.write(`${await command(line.slice(1))}\n`);
    else stdout.push(line);
  }
  const code = await new Promise<number | null>((resolve) => {
    if (child.exitCode !== null) resolve(child.exitCode);
    else child.on("close", resolve);
  });
  return { code, stderr, stdout };
}

describe.runIf(hasPython)("the Python package", () => {
  let at: RunningVenue;
  let proxy: CuttingProxy;
  let made: string;

  beforeAll(async () => {
    at = await startVenue({ promises: { logKey, checkpointMs: 60_000 } }, afterAll);
    proxy = await CuttingProxy.before(at.url, afterAll);
    made = join(newFolder(afterAll), "vectors.json");
    writeFileSync(
      made,
      JSON.stringify({ ...(await pythonVectors()), proof: await proofVectors(at) }),
    );
  });

  test.each([
    ["with cryptography, if it is installed", "0", "test_*.py"],
    ["receipts in Python alone", "1", "test_receipts.py"],
  ])("unit tests, %s: all pass", async (_, pure, pattern) => {
    const { code, stderr } = await python(
      ["-W", "error", "-m", "unittest", "discover", "-s", TESTS, "-p", pattern],
      { PERPGATE_MADE_VECTORS: made, PERPGATE_PURE_PYTHON: pure },
    );
    expect(stderr).toMatch(/^Ran \d\d+ tests[\s\S]*^OK/m);
    expect(code).toBe(0);
  });

  test("against a venue: signs in, trades, streams through a cut, mirrors the book, checks receipts", async () => {
    const client = newClient(at);
    const { code, stderr } = await python(
      ["-W", "error", "-m", "unittest", "discover", "-s", TESTS, "-p", "live*.py"],
      { PERPGATE_URL: proxy.url, PERPGATE_LOG_KEY: logKey.text },
      async (text) => {
        const [name, value] = text.split(" ");
        if (name === "advance") await at.advance(Number(value));
        if (name === "checkpoint") await at.venue.promises?.log.advance();
        if (name === "cut") proxy.cutAll();
        if (name === "save") return JSON.stringify((await newSession(client)).save());
        if (name === "restore") {
          const session = client.restore(JSON.parse(readFileSync(value ?? "", "utf8")));
          return (await session.placeOrder(BID)).status;
        }
        if (name === "judge") {
          const file = JSON.parse(readFileSync(value ?? "", "utf8"));
          return (await judgeReceipt(file, { url: at.url, logKey: logKey.text })).verdict;
        }
        return "done";
      },
    );
    expect(stderr).toMatch(/^Ran \d+ tests[\s\S]*^OK$/m);
    expect(code).toBe(0);
  });

  test("README: its program runs as it stands", async () => {
    const client = newClient(at);
    const maker = await newSession(client);
    await maker.placeOrder(ASK);
    await maker.placeOrder(BID);
    const page = readFileSync(join(PACKAGE, "README.md"), "utf8");
    const program = /```python first\.py\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    const file = join(newFolder(), "first.py");
    writeFileSync(file, program.replace("http://127.0.0.1:8080", at.url));
    const { code, stderr, stdout } = await python([file], { PERPGATE_PURE_PYTHON: "1" });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.join("\n")).toMatch(
      /^filled 0\.007\d* at 66000\nBTCUSD 0\.007\d* liquidated at \d+.*\nbest PriceLevel.*\norder resting at \d+\nprice_\w+ price$/,
    );
  });
});

/** A proof of an order, and what others could put under it. */
async function proofVectors(at: RunningVenue): Promise<object> {
  const client = newClient(at, {}, (close) => afterAll(close));
  const session = await newSession(client);
  const { ackNonce } = await session.placeOrder({ ...BID, clientOrderId: "proof-1" });
  await at.advance(400);
  await at.venue.promises?.log.advance();
  const alone = await session.preconfirmProof(ackNonce);
  await session.cancelAll();
  const checkpoint = `${alone.split("\n\n")[1]}\n`;
  const [witness, stranger] = [new TestCosigner(), new TestCosigner("witness.example/w2")];
  return {
    alone,
    cosigned: alone + witness.line(checkpoint),
    forged: alone + stranger.line(checkpoint, witness.key),
    ackNonce: Number(ackNonce),
    logKey: logKey.text,
    otherLogKey: newLogKey("venue.example/log").key.text,
    witness: witness.text,
    otherWitness: new TestCosigner().text,
    stranger: stranger.text,
  };
}
