/**
 * A bounded part of every attack of the table against a real process with default limits. Costs are
 * checked, not times: what was charged for it, what reached the parser, which connections ended.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Gateway, startGateway } from "../orders/gateway.js";
import { stop } from "../orders/processes.js";
import { type SignedIn, signIn } from "../orders/sign-in.js";
import { ATTACK_KINDS, type Attack } from "./attack.js";
import { type BoundedResult, sendBounded } from "./bounded.js";
import { ATTACKS } from "./kinds/combined.js";

/** Of one attack: enough for every defence to show, little enough for all of them in a minute. */
const BOUNDS = { bytes: 524_288, writes: 400, connections: 40, milliseconds: 120 };
const VETERANS = 8;
/** The least that the table of costs has for a connection, and for a request whatever its answer. */
const LEAST_PER_CONNECTION = 100e-6;
const LEAST_PER_ANSWER = 90e-6;
/** Collected at most once a second. */
const METRICS_AGE_MS = 1_100;
/** Their bodies are refused for want of a live token or for their length. */
const NEVER_PARSED = ["orders-without-token", "orders-wrong-token", "json-fraction-of-zeros"];

let folder = "";
let log = 0;
let gateway: Gateway;
const veterans: SignedIn[] = [];
let addresses = 1;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-costs-"));
  log = openSync(join(folder, "venue.log"), "a");
  const configuration = { metrics: { port: false } };
  gateway = await startGateway({ folder, log, configuration, flags: ["--no-bots"] });
  for (let i = 0; i < VETERANS; i++) veterans.push(await signIn(gateway.origin));
});

afterAll(async () => {
  await stop(gateway.child);
  closeSync(log);
  rmSync(folder, { recursive: true, force: true });
});

async function metrics(): Promise<(name: string) => number> {
  await new Promise((resolve) => setTimeout(resolve, METRICS_AGE_MS));
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  return (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}

/** From an address of its own, so that no attack finds its budget used up by another. */
function send(attack: Attack): Promise<BoundedResult> {
  addresses++;
  const localAddress = `127.0.${addresses >> 8}.${addresses & 255}`;
  return sendBounded(attack, { port: gateway.port, localAddress }, BOUNDS, veterans);
}

function httpAnswers({ tally }: BoundedResult): number {
  const statuses = Object.entries(tally.answers).filter(([kind]) => /^\d{3}$/.test(kind));
  return statuses.reduce((sum, [, count]) => sum + count, 0);
}

test.each(ATTACK_KINDS)(
  "%s: charged for, closed, and without a fault of the gateway",
  async (kind) => {
    const before = await metrics();
    let least = 0;
    for (const attack of ATTACKS.filter((one) => one.kind === kind)) {
      const result = await send(attack);
      const { connections, notConnected } = result.tally;
      expect(connections, attack.name).toBeGreaterThan(0);
      expect(result.leftOpen, `${attack.name}: connections left open`).toBe(0);
      least += (connections - notConnected) * LEAST_PER_CONNECTION;
      least += httpAnswers(result) * LEAST_PER_ANSWER;
      expect(gateway.child.exitCode, attack.name).toBeNull();
    }
    const after = await metrics();
    const charged = "perpgate_cost_seconds_total";
    expect(after(charged) - before(charged)).toBeGreaterThanOrEqual(least);
    const lines = readFileSync(join(folder, "venue.log"), "utf8");
    expect(lines).not.toMatch(/unexpected failure|an upgrade failed|a stream failed/);
  },
);

test("bodies of strangers, and bodies that are too long: none of their bytes reaches the parser", async () => {
  const before = await metrics();
  for (const name of NEVER_PARSED) {
    const attack = ATTACKS.find((one) => one.name === name);
    if (attack === undefined) throw new Error(`there is no attack ${name}`);
    const { tally } = await send(attack);
    expect(tally.bytesSent, name).toBeGreaterThan(0);
  }
  const parsed = "perpgate_parsed_bytes_total";
  expect((await metrics())(parsed)).toBe(before(parsed));
});

test("a flood of refusals: a few lines of the log, not one each", async () => {
  const bytesBefore = readFileSync(join(folder, "venue.log")).length;
  const attack = ATTACKS.find(({ name }) => name === "orders-without-token");
  if (attack === undefined) throw new Error("the attack is gone");
  const answers = httpAnswers(await send(attack));
  const lines = readFileSync(join(folder, "venue.log")).subarray(bytesBefore).toString();
  const refusals = lines.split("\n").filter((line) => line.includes('"status":401')).length;
  expect(answers).toBeGreaterThan(100);
  expect(refusals).toBeLessThanOrEqual(answers / 3);
});
