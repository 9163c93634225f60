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
import { signatureLine, successorText } from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { judgeReceipt } from "@perpgate/sdk";
import { type LogKey, newLogKey, signWith, succeed, successorsFile } from "@perpgate/venue";
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

  test("against a venue that has replaced its log key: who pinned the old one follows", async () => {
    const [old, next, foreign] = [logKey, newLogKey(logKey.name).key, newLogKey(logKey.name).key];
    const directory = newFolder(afterAll);
    const ends: (() => void | Promise<void>)[] = [];
    const promises = { logKey: old, checkpointMs: 60_000 };
    const before = await startVenue({ directory, promises }, (end) => void ends.push(end));
    await before.advance(400);
    for (const end of ends.reverse()) await end();
    await succeed(successorsFile(directory), old, next);
    const after = await startVenue({ directory, promises: { ...promises, logKey: next } });
    const file = join(newFolder(), "succession");
    const refused = [
      [[note(old, next, [foreign, next])], "is not signed by"],
      [[note(old, next, [old, old])], "is not signed by"],
      [[note(old, next), note(old, foreign)], "has two successors"],
      [[note(old, next), note(foreign, next)], "succeeds two keys"],
      [[note(old, next), note(next, old)], "form a circle"],
      [[note(old, old)], "form a circle"],
      [Array(17).fill(note(old, next)), "more than 16"],
      [[note(old, next).replace("\n\n", "\n1\n\n")], "cannot be read"],
      [[old.text], "cannot be read"],
    ];
    const keys = { old: old.text, next: next.text, foreign: foreign.text };
    writeFileSync(file, JSON.stringify({ succession: { ...keys, refused } }));
    const { code, stderr } = await python(
      ["-W", "error", "-m", "unittest", "discover", "-s", TESTS, "-p", "succession.py"],
      { PERPGATE_URL: after.url, PERPGATE_MADE_VECTORS: file },
      async () => {
        await after.advance(400);
        await after.venue.promises?.log.advance();
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

/** A successor note that these have signed in the place of both keys. */
function note(from: LogKey, to: LogKey, signers: readonly [LogKey, LogKey] = [from, to]): string {
  const text = successorText({ from, to });
  const line = (key: LogKey, { privateKey }: LogKey) =>
    signatureLine(key, signWith(privateKey, Buffer.from(text)));
  return `${text}\n${line(from, signers[0])}${line(to, signers[1])}`;
}

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
