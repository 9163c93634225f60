/**
 * Signed, durable orders end to end, beside the floor in the same run.
 *
 *   npm run bench:orders [-- --help]
 *
 * Every order has its own nonce and signature and trades or rests in a real venue, which meanwhile
 * ticks, takes snapshots and streams its book to a reader; load and reader are processes of their
 * own. The servers take turns, so that a noisy moment hits both.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchOptions } from "./options.js";
import { type Gateway, snapshotsTaken, withGateway } from "./orders/gateway.js";
import { measureMemory } from "./orders/memory.js";
import { CONNECTIONS, OrderPath, type PacedResult, undisturbedMs } from "./orders/order-path.js";
import { firstMessage, forkScript, perSecond, stop } from "./orders/processes.js";
import { median, percentile, progress, Report } from "./report.js";
import { startReadersElsewhere } from "./streams/fan-out.js";

const options = benchOptions({
  command: "bench:orders",
  about: "Signed, durable orders over REST and over sockets, beside the least a gateway must do.",
  amounts: {
    count: { about: "orders of a turn at saturation", full: 7_000, short: 3_000 },
    turns: { about: "turns of each at saturation", full: 9, short: 5 },
    paced: { about: "orders of a turn at half of saturation", full: 15_000, short: 6_000 },
    rounds: { about: "turns of each at half of saturation", full: 3, short: 2 },
    readers: { about: "sockets that read the book meanwhile", full: 1, short: 1 },
    "memory-orders": { about: "orders of --memory", full: 200_000, short: 50_000 },
  },
  switches: { memory: "measure the growth of memory instead" },
});
const {
  count: COUNT,
  turns: TURNS,
  paced: PACED,
  rounds: ROUNDS,
  readers: READERS,
} = options.amounts;

const report = new Report("orders", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, the load included",
]);

/** The floor, in a process of its own. */
async function withFloor(run: (path: OrderPath) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-floor-"));
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const script = new URL("./orders/floor-server.js", import.meta.url);
  const child = forkScript(script, [join(folder, "floor"), Buffer.from(pem).toString("base64")]);
  try {
    const port = Number(await firstMessage(child));
    const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await run(new OrderPath(port, [{ token: "t".repeat(43), privateKeyPem }]));
  } finally {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Orders a second of the gateway over REST. Turns are short and follow each other, and a ratio is the
 * middle one of all pairs of neighbours: the machine's own speed changes by half within a minute.
 */
async function saturation(floor: OrderPath, gateway: OrderPath): Promise<number> {
  const floorRates: number[] = [];
  const restRates: number[] = [];
  const socketRates: number[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    progress(`orders: saturation, turn ${turn} of ${TURNS} …`);
    floorRates.push(perSecond(await floor.saturate(COUNT)));
    restRates.push(perSecond(await gateway.saturate(COUNT)));
    socketRates.push(perSecond(await gateway.overSockets(COUNT)));
  }
  const besideRest = (rates: readonly number[]): number =>
    median(rates.map((rate, i) => rate / restRates[i]!));
  const rest = median(restRates);
  const name = `${CONNECTIONS} connections`;
  report.add(`floor, ${name}`, median(floorRates), "orders/s");
  report.add(
    `gateway, REST, ${name}`,
    rest,
    "orders/s",
    "floor, bar 0.80",
    1 / besideRest(floorRates),
  );
  report.add(
    `gateway, sockets, ${name}`,
    median(socketRates),
    "orders/s",
    "REST, bar 1.1",
    besideRest(socketRates),
  );
  const all = restRates.map((rate, i) => (rate / floorRates[i]!).toFixed(2)).sort();
  progress(`orders: REST beside the floor, each pair of turns: ${all.join(" ")}`);
  return rest;
}

async function halfOfIt(floor: OrderPath, gateway: OrderPath, rate: number): Promise<void> {
  const floorTurns: PacedResult[] = [];
  const turns: PacedResult[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`orders: ${rate}/s, round ${round} of ${ROUNDS} …`);
    floorTurns.push(await floor.paced(PACED, rate));
    turns.push(await gateway.paced(PACED, rate));
  }
  for (const [share, barMs] of [
    [0.5, 1],
    [0.99, 5],
  ] as const) {
    for (const [from, part] of [
      ["sent", "sentLatenciesMs"],
      ["due", "dueLatenciesMs"],
    ] as const) {
      const name = `gateway at ${rate}/s, p${share * 100} since ${from}`;
      const middle = (of: readonly PacedResult[]): number =>
        median(of.map((turn) => percentile(turn[part], share)));
      addBesideFloor(name, middle(turns), middle(floorTurns), barMs);
      const leftAlone = (of: readonly PacedResult[]): number =>
        percentile(undisturbedMs(of, part), share);
      addBesideFloor(`  ${UNDISTURBED}`, leftAlone(turns), leftAlone(floorTurns), barMs);
    }
  }
  addOfMachine(floorTurns, turns);
}

const UNDISTURBED = "of these, orders that the machine did not slow down";

function addBesideFloor(name: string, ours: number, least: number, barMs: number): void {
  const beside = `floor ${least.toFixed(2)} ms; bars ${barMs} ms and 1.5×`;
  report.add(name, ours, "ms", beside, ours / least);
}

/** What the machine and the load had to do with it. */
function addOfMachine(floorTurns: readonly PacedResult[], turns: readonly PacedResult[]): void {
  const lateness = (of: readonly PacedResult[]): number =>
    median(of.map(({ latenessMs }) => percentile(latenessMs, 0.99)));
  const late = `${lateness(floorTurns).toFixed(2)} ms with the floor`;
  report.add("  the load's own lateness, p99", lateness(turns), "ms", late);
  const slow = (of: readonly PacedResult[]): number =>
    100 * median(of.map(({ slowShare }) => slowShare));
  const slowBeside = `${slow(floorTurns).toFixed(1)} % with the floor`;
  report.add("  time in which the machine itself was slow", slow(turns), "%", slowBeside);
  const left = (of: readonly PacedResult[]): number =>
    (100 * undisturbedMs(of, "dueLatenciesMs").length) / (of.length * of[0]!.answered);
  const leftBeside = `${left(floorTurns).toFixed(0)} % with the floor`;
  report.add("  orders that it did not slow down", left(turns), "%", leftBeside);
}

async function orders(floor: OrderPath, gateway: Gateway): Promise<void> {
  const { port, origin } = gateway;
  const path = await OrderPath.signedIn(origin);
  const stream = { port, sockets: READERS, subscribe: "book.BTCUSD" };
  const readers = await startReadersElsewhere(stream);
  try {
    let rate = 0;
    await report.step("warming up", async () => {
      for (const each of [floor, path]) await each.saturate(4_000);
    });
    await report.step("saturation", async () => {
      rate = await saturation(floor, path);
    });
    await report.step("half of saturation", async () => {
      if (rate === 0) throw new Error("the rate at saturation is not known");
      await halfOfIt(floor, path, Math.floor(rate / 2));
    });
    report.detail("snapshots taken meanwhile", snapshotsTaken(gateway), "");
  } finally {
    await readers.stop();
  }
}

if (options.switches.has("memory")) {
  const count = options.amounts["memory-orders"];
  await report.step("memory", () => measureMemory(report, count));
} else {
  await report.step("servers", () =>
    withFloor((floor) => withGateway((gateway) => orders(floor, gateway))),
  );
}
report.print(options.json);
