/**
 * Who is served when a million accounts have a stop that is reached: a venue whose log has them is started
 * as it always is, a feed lets its index fall through all of their stops, and honest traders send orders, are
 * liquidated, have a stop and a dead-man's switch. Compared with the same venue before the fall.
 */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { dataFolder } from "@perpgate/venue/testing";
import { BenchGateway, inFolder } from "./harness/gateway.js";
import {
  askOnce,
  askSigned,
  type BenchAccount,
  type GatewayAddress,
  signInMany,
} from "./harness/http.js";
import { type LoadLane, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { progress, Report } from "./harness/report.js";
import { appendCrowd } from "./service/crowd-log.js";

/** A web feed of one price that the bench sets: the index of the venue under test. */
class PriceFeed {
  private constructor(
    private readonly server: Server,
    public price: number,
  ) {
    server.on("request", (_, response) => response.end(JSON.stringify({ price: this.price })));
  }

  static async open(price: number): Promise<PriceFeed> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PriceFeed(server, price);
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const options = parseOptions({
  command: "npm run bench -- service",
  about:
    "A million reached stops, walls and failed orders next to honest traders of a live gateway.",
  numbers: {
    accounts: ["accounts with a stop that the fall reaches", 1_000_000, 50_000],
    holders: ["of them, accounts whose stop closes a position", 2_000, 500],
    walls: ["of them, accounts with 499 bids of the least size", 400, 100],
    switches: ["accounts with 400 stops whose switch is due first", 20, 10],
    rate: ["honest orders a second", 60, 60],
    seconds: ["of each measurement", 30, 15],
  },
});

const TRADERS = 16;
const CONNECTIONS = 64;
const INDEX = 65_000;
/** Steps of less than the lowest maintenance, so that no order waits for liquidations. */
const FALL = [64_610, 64_220, 64_025];
const STEP_MS = 700;
const CROWD = { index: INDEX, stopsFrom: 64_600, stopsTo: 64_100, closing: 650, wallPrice: 64_000 };
const DUE_SIZE = 0.1;
const IDLE_STOPS = 400;
const LOOK_MS = 25;
const PATIENCE_MS = 20_000;
/** Between failed orders. */
const KILLED_GAP_MS = 100;

const report = new Report("service");

function settingsFor(feed: PriceFeed): object {
  const [market] = DEFAULT_MARKETS;
  const markets = { BTCUSD: { url: feed.url, price: "/price" } };
  return {
    markets: [market],
    index: {
      ...{ source: "http", quorum: 1, pollMs: 100, intervalMs: 50 },
      feeds: [{ name: "bench", markets }],
    },
    http: { connectionsPerAddress: 1_000 },
  };
}

/** A trader of the venue, by name. */
class Trader {
  private nonce = 1_000_000;

  constructor(
    private readonly address: GatewayAddress,
    readonly account: BenchAccount,
  ) {}

  get session(): number {
    return Number(this.account.token.split(".")[1]);
  }

  async order(terms: object): Promise<string> {
    const content = { symbol: "BTCUSD", ...terms, nonce: ++this.nonce };
    return askSigned(this.address, this.account, "/v1/orders", content);
  }

  armsSwitch(afterMs: number) {
    const body = JSON.stringify({ afterMs });
    return askOnce(this.address, "/v1/orders/cancel-after", { body, token: this.account.token });
  }

  /** Milliseconds from now until the answer to that path is so. */
  async until(path: string, isSo: (items: readonly unknown[]) => boolean): Promise<number> {
    const started = performance.now();
    for (;;) {
      const { status, text } = await askOnce(this.address, path, { token: this.account.token });
      const waited = performance.now() - started;
      if (status === 200 && isSo(itemsOf(JSON.parse(text)))) return waited;
      if (waited > PATIENCE_MS) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
      await sleep(LOOK_MS);
    }
  }
}

function itemsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  const list = Object.values(answer ?? {}).find(Array.isArray);
  if (list === undefined) throw new Error("no list");
  return list;
}

const isEmpty = (items: readonly unknown[]): boolean => items.length === 0;

/** What is left after a part may be healthy. */
function isReduced([position]: readonly unknown[]): boolean {
  return position === undefined || numberOf(position, "size") < DUE_SIZE;
}

function numberOf(item: unknown, field: string): number {
  return Number(Reflect.get(Object(item), field));
}

interface Cast {
  readonly load: readonly BenchAccount[];
  readonly maker: Trader;
  readonly due: Trader;
  readonly holder: Trader;
  readonly switcher: Trader;
  readonly killer: Trader;
  readonly idle: readonly Trader[];
}

async function castOf(address: GatewayAddress): Promise<Cast> {
  const accounts = await signInMany(address, TRADERS + 5 + options.number("switches"));
  const others = accounts.slice(TRADERS).map((account) => new Trader(address, account));
  const [maker, due, holder, switcher, killer, ...idle] = others;
  return {
    load: accounts.slice(0, TRADERS),
    ...{ maker: maker!, due: due!, holder: holder!, switcher: switcher!, killer: killer!, idle },
  };
}

/** The same accounts at the gateway that was started again, each at an address of its own. */
function at(address: GatewayAddress, cast: Cast): Cast {
  let host = 1;
  const moved = ({ account }: Trader) => {
    return new Trader({ ...address, localAddress: `127.0.1.${++host}` }, account);
  };
  const { load, maker, due, holder, switcher, killer, idle } = cast;
  return {
    load,
    maker: moved(maker),
    due: moved(due),
    holder: moved(holder),
    switcher: moved(switcher),
    killer: moved(killer),
    idle: idle.map(moved),
  };
}

async function takePositions({ maker, due, holder, switcher }: Cast): Promise<void> {
  await maker.order({ side: "short", type: "limit", size: 0.11, leverage: 10, price: INDEX });
  await due.order({ side: "long", type: "limit", size: DUE_SIZE, leverage: 50, price: INDEX });
  await holder.order({ side: "long", type: "limit", size: 0.01, leverage: 5, price: INDEX });
  const stop = { side: "short", type: "stop", size: 0.01, leverage: 5, price: 64_300 };
  await holder.order({ ...stop, reduceOnly: true });
  await switcher.order({ side: "short", type: "limit", size: 0.001, leverage: 5, price: 67_000 });
}

/** The index falls; how long until the liquidation and the stop are served, and the switch. */
async function fall(feed: PriceFeed, { due, holder, switcher, idle }: Cast) {
  const served: Record<string, number> = {};
  const note = (name: string, ms: Promise<number>) => ms.then((value) => (served[name] = value));
  const waiting: Promise<unknown>[] = [];
  for (const price of FALL) {
    feed.price = price;
    if (price === FALL[1]) {
      waiting.push(note("liquidation", due.until("/v1/positions", isReduced)));
      waiting.push(note("stop", holder.until("/v1/orders", isEmpty)));
    }
    // Two steps in one tick would be a jump.
    await holder.until("/v1/markets", ([market]) => numberOf(market, "markPrice") <= price);
    await sleep(STEP_MS);
  }
  await Promise.all(waiting);
  await Promise.all(idle.map((each) => each.armsSwitch(1_000)));
  const armed = await switcher.armsSwitch(1_000);
  if (armed.status !== 200) throw new Error(armed.text);
  await note("switch", switcher.until("/v1/orders", isEmpty));
  return { ...served, switch: served.switch! - 1_000 };
}

/** Orders that meet half a command's makers and fail. */
async function kills({ killer }: Cast, isOver: () => boolean): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  while (!isOver()) {
    const terms = { side: "short", type: "limit", timeInForce: "fok", leverage: 50 };
    const sent = killer.order({ ...terms, size: 0.5, price: CROWD.wallPrice });
    const answer = await sent.then(
      (text) => /"reason":"(\w+)"/.exec(text)?.[1] ?? "none",
      (error: Error) => error.message.slice(0, 60),
    );
    answers[answer] = (answers[answer] ?? 0) + 1;
    await sleep(KILLED_GAP_MS);
  }
  return answers;
}

async function measure(gateway: BenchGateway, feed: PriceFeed, cast: Cast): Promise<void> {
  await takePositions(cast);
  const rate = options.number("rate");
  const count = rate * options.number("seconds");
  await withLoad(async (open) => {
    const address = { port: gateway.port };
    const lane: LoadLane = await open({ address, send: cast.load, connections: CONNECTIONS });
    await lane.paced(count, rate);
    progress("service: quiet …");
    const quiet = await lane.paced(count, rate);
    progress("service: the fall …");
    let isOver = false;
    const before = gateway.processorMs;
    const killed = kills(cast, () => isOver);
    const both = Promise.all([fall(feed, cast), lane.paced(count, rate)]);
    const [served, load] = await both.finally(() => (isOver = true));
    progress(`service: failed orders ${JSON.stringify(await killed)}`);
    const busy = (gateway.processorMs - before) / 1_000 / options.number("seconds");
    for (const [name, ms] of Object.entries(served)) {
      const bar = name === "switch" ? 1_000 : 2_000;
      report.add(`${name}, served after`, ms, "ms", `bar ${bar} ms`, ms / bar);
    }
    for (const p of ["p50", "p99"] as const) {
      const ratio = load.sent[p] / quiet.sent[p];
      const against = `quiet ${quiet.sent[p].toFixed(2)} ms${p === "p99" ? ", bar 3×" : ""}`;
      report.add(`honest order, ${p}`, load.sent[p], "ms", against, ratio);
    }
    report.add(
      "  lateness of the load, p99",
      load.late.p99,
      "ms",
      `quiet ${quiet.late.p99.toFixed(2)} ms`,
    );
    report.add("  processors that the gateway takes", busy, "cores");
  });
}

await inFolder("service", async (folder) => {
  const feed = await PriceFeed.open(INDEX);
  const configuration = settingsFor(feed);
  const flags = ["--no-bots", "--log-level", "error"];
  const start = () => BenchGateway.start({ folder, configuration, flags });
  await report
    .step("a full venue", async () => {
      const first = await start();
      const cast = await castOf({ port: first.port }).finally(() => first.end());
      progress("service: writing the log …");
      const { accounts, holders, walls } = {
        ...CROWD,
        accounts: options.number("accounts"),
        holders: options.number("holders"),
        walls: options.number("walls"),
      };
      const { journal } = dataFolder(join(folder, "data"));
      const idle = cast.idle.map(({ session }) => ({ session, stops: IDLE_STOPS }));
      await appendCrowd(journal, { ...CROWD, accounts, holders, walls }, idle);
      progress("service: starting on it …");
      const gateway = await start();
      try {
        await measure(gateway, feed, at({ port: gateway.port }, cast));
      } finally {
        await gateway.end("SIGKILL");
      }
    })
    .finally(() => feed.close());
});
report.print(options.has("json"));
