/** Order entry over sockets beside REST: the same traders, the same gateway, turn by turn. */
import type { OrdersOf } from "../orders/load.js";
import { forkScript } from "../orders/processes.js";
import { signIn } from "../orders/sign-in.js";
import { median, progress, type Report } from "../report.js";
import type { EntryPlan, EntryResult, EntryWay } from "./entry-load.js";

const CONNECTIONS = 16;
/** Orders that a socket has under way where it has several. */
const SEVERAL = 4;
const COUNT = 400;
const PRICE = 65_000;

const REST: EntryWay = { isSocket: false, connections: CONNECTIONS, underWay: 1 };
const SOCKETS: EntryWay = { isSocket: true, connections: CONNECTIONS, underWay: 1 };
const SOCKETS_WITH_SEVERAL: EntryWay = { ...SOCKETS, underWay: SEVERAL };
const REST_WITH_AS_MANY: EntryWay = { ...REST, connections: SEVERAL * CONNECTIONS };
const WAYS = [REST, SOCKETS, SOCKETS_WITH_SEVERAL, REST_WITH_AS_MANY];

export async function measureEntry(report: Report, origin: string, turns: number): Promise<void> {
  const traders: OrdersOf["traders"][number][] = [];
  for (let i = 0; i < CONNECTIONS; i++) traders.push(await signIn(origin));
  const warmUp = Math.ceil(turns / 4);
  const port = Number(new URL(origin).port);
  const plan: EntryPlan = {
    port,
    price: PRICE,
    traders,
    firstNonce: 1,
    ways: WAYS,
    count: COUNT,
    turns: warmUp + turns,
  };
  const { turnsMs } = await entryLoad(plan);
  const measured = new Map(WAYS.map((way, i) => [way, (turnsMs[i] ?? []).slice(warmUp)]));
  const rate = (way: EntryWay): number => (COUNT * 1_000) / median(measured.get(way) ?? []);
  // Of one turn and the turn beside it: what slows the machine for a second slows both.
  const beside = (way: EntryWay, other: EntryWay): number => {
    const others = measured.get(other) ?? [];
    return median((measured.get(way) ?? []).map((ms, i) => (others[i] ?? 0) / ms));
  };
  const name = `orders over ${CONNECTIONS}`;
  report.add(`${name} REST connections`, rate(REST), "orders/s");
  report.add(
    `${name} sockets, one under way on each`,
    rate(SOCKETS),
    "orders/s",
    "REST, turn by turn, bar 1.1",
    beside(SOCKETS, REST),
  );
  report.add(
    `${name} sockets, ${SEVERAL} under way on each`,
    rate(SOCKETS_WITH_SEVERAL),
    "orders/s",
    `REST over ${CONNECTIONS}, bar 1.1`,
    beside(SOCKETS_WITH_SEVERAL, REST),
  );
  report.detail(
    `  beside as many orders under way over ${REST_WITH_AS_MANY.connections} REST connections`,
    rate(REST_WITH_AS_MANY),
    "orders/s",
    "the sockets are",
    beside(SOCKETS_WITH_SEVERAL, REST_WITH_AS_MANY),
  );
}

function entryLoad(plan: EntryPlan): Promise<EntryResult> {
  const child = forkScript(new URL("./entry-load.js", import.meta.url), []);
  return new Promise((resolve, reject) => {
    child.on("message", (message: EntryResult | { readonly done: number }) => {
      if ("turnsMs" in message) resolve(message);
      else if (message.done % 20 === 0) {
        progress(`streams: order entry, turn ${message.done} of ${plan.turns} …`);
      }
    });
    child.once("disconnect", () => reject(new Error("the load ended early")));
    child.send(plan);
  });
}
