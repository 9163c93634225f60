/**
 * A bounded part of every attack of the table against a real process with default limits. Costs are
 * checked, not times: what was charged for it, what reached the parser, which connections ended.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BenchGateway } from "../harness/gateway.js";
import { type BenchAccount, signInMany } from "../harness/http.js";
import type { Attack } from "./attack.js";
import { ATTACK_KINDS, ATTACKS, attackNamed } from "./table.js";
import type { Tally } from "./wire/line.js";
import { AttackNetwork } from "./wire/network.js";

/** Per attack: enough for every defence to take effect, little enough for all in a minute. */
const BOUNDS = { bytes: 524_288, writes: 400, connections: 40, milliseconds: 120 };
const VETERANS = 8;
/** Between the last byte and the end of the last connection: what an address may cost a second bounds it. */
const DRAIN_MS = 60_000;
/** The lowest cost of a connection, and of a request whatever its answer. */
const LEAST_PER_CONNECTION = 100e-6;
const LEAST_PER_ANSWER = 90e-6;
/** A connection whose reset arrives before it is accepted has no address that could be charged. */
const RESET_EARLY: readonly string[] = ["connections-open-and-reset", "requests-reset"];
/** Collected at most once a second. */
const METRICS_AGE_MS = 1_100;
/** Their bodies are refused because the token is not valid or the body too long. */
const NEVER_PARSED = ["orders-without-token", "orders-wrong-token", "json-fraction-of-zeros"];

let folder = "";
let log = 0;
let gateway: BenchGateway;
let veterans: readonly BenchAccount[] = [];
let addresses = 1;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-costs-"));
  log = openSync(join(folder, "venue.log"), "a");
  // The budget of an address is each edge's.
  const configuration = { edges: 1, metrics: { port: false } };
  gateway = await BenchGateway.start({ folder, log, configuration, flags: ["--no-bots"] });
  veterans = await signInMany({ port: gateway.port }, VETERANS);
});

afterAll(async () => {
  await gateway.end();
  closeSync(log);
  rmSync(folder, { recursive: true, force: true });
});

type Metrics = (name: string) => number;

/** The last that were read: nothing was sent after them. */
let latest: Metrics | undefined;

async function metrics(): Promise<Metrics> {
  await new Promise((resolve) => setTimeout(resolve, METRICS_AGE_MS));
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  const lines = text.replaceAll(/,?process="[^"]*"/g, "").replaceAll("{}", "");
  latest = (name) => {
    const found = [...lines.matchAll(new RegExp(`^${name} (\\S+)$`, "gm"))];
    if (found.length === 0) throw new Error(`no metric ${name}`);
    return found.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return latest;
}

interface BoundedResult {
  readonly tally: Tally;
  /** Connections that the server had not closed after the client's FIN. */
  readonly leftOpen: number;
}

/** From a new client address, so that no attack finds its budget used up by another. */
async function send({ prepare }: Attack, bounds = BOUNDS): Promise<BoundedResult> {
  addresses++;
  const localAddress = `127.0.${addresses >> 8}.${addresses & 255}`;
  const address = { port: gateway.port, localAddress };
  const traffic = await prepare({ address, veterans });
  const network = new AttackNetwork(address, bounds);
  await traffic(network);
  const leftOpen = await network.drain(DRAIN_MS);
  return { tally: network.tally, leftOpen };
}

function httpAnswers({ tally }: BoundedResult): number {
  const statuses = Object.entries(tally.answers).filter(([kind]) => /^\d{3}$/.test(kind));
  return statuses.reduce((sum, [, count]) => sum + count, 0);
}

/** Seconds that the attack must have been charged for at least. */
async function leastCost(attack: Attack): Promise<number> {
  const result = await send(attack);
  const { connections, notConnected } = result.tally;
  expect(connections, attack.name).toBeGreaterThan(0);
  expect(result.leftOpen, `${attack.name}: connections left open`).toBe(0);
  expect(gateway.isAlive, attack.name).toBe(true);
  const accepted = RESET_EARLY.includes(attack.name) ? 0 : connections - notConnected;
  return accepted * LEAST_PER_CONNECTION + httpAnswers(result) * LEAST_PER_ANSWER;
}

test.each(ATTACK_KINDS)(
  "%s: charged for, closed, and without a fault of the gateway",
  async (kind) => {
    const before = latest ?? (await metrics());
    const attacks = ATTACKS.filter((one) => one.kind === kind);
    // Together: most of the time passes until connections that send nothing are closed.
    const costs = await Promise.all(attacks.map(leastCost));
    const least = costs.reduce((sum, cost) => sum + cost, 0);
    const after = await metrics();
    const charged = "perpgate_cost_seconds_total";
    expect(after(charged) - before(charged)).toBeGreaterThanOrEqual(least);
    const lines = readFileSync(join(folder, "venue.log"), "utf8");
    expect(lines).not.toMatch(/unexpected failure|an upgrade failed|a stream failed/);
  },
);

test("bodies of strangers, and bodies that are too long: none of their bytes reaches the parser", async () => {
  const before = latest ?? (await metrics());
  for (const name of NEVER_PARSED) {
    const { tally } = await send(attackNamed(name));
    expect(tally.bytesSent, name).toBeGreaterThan(0);
  }
  const parsed = "perpgate_parsed_bytes_total";
  // Of the accounts that have signed in.
  expect(before(parsed)).toBeGreaterThan(0);
  expect((await metrics())(parsed)).toBe(before(parsed));
});

test("wrong signatures of eight sessions: few of each are checked, the others are refused", async () => {
  const checked = async (): Promise<number> => {
    return (await metrics())("perpgate_signatures_total");
  };
  const before = await checked();
  const begunMs = performance.now();
  const bounds = { ...BOUNDS, writes: 600, milliseconds: 60_000 };
  const { tally } = await send(attackNamed("orders-wrong-secp256k1-accounts"), bounds);
  expect(tally.answers["429"]).toBeGreaterThan(0);
  // Of each a burst of ten, one a second while it lasts, and what is in flight until that one is counted.
  const seconds = (performance.now() - begunMs) / 1_000;
  expect((await checked()) - before).toBeLessThan(VETERANS * (12 + 2 * seconds));
});

test("a flood of refusals: a few lines of the log, not one each", async () => {
  const bytesBefore = readFileSync(join(folder, "venue.log")).length;
  const answers = httpAnswers(await send(attackNamed("orders-without-token")));
  const lines = readFileSync(join(folder, "venue.log")).subarray(bytesBefore).toString();
  const refusals = lines.split("\n").filter((line) => line.includes('"status":401')).length;
  expect(answers).toBeGreaterThan(100);
  expect(refusals).toBeLessThanOrEqual(answers / 3);
});
