/** Edges on another machine than their core, here two sets of processes joined by TLS alone. */

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { fieldsOf, StreamClient } from "@perpgate/gateway/testing";
import { freePort, POLL } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../../testing/perpgate-process.js";

const HOST = "127.0.0.1";
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };
const TRADERS = 4;

/** With and without these a peer is an edge of the venue. */
interface Files {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

let folder = "";
const files = (name: string): Files => ({
  ca: join(folder, "ca.pem"),
  cert: join(folder, `${name}.pem`),
  key: join(folder, `${name}.key`),
});

async function keygen(...args: readonly string[]): Promise<void> {
  const made = new PerpgateProcess(["keygen", ...args], {}, undefined, afterAll);
  const { code, stdout, stderr } = await made.ended;
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}\n$/);
}

beforeAll(async () => {
  folder = temporaryFolder(afterAll);
  const ca = join(folder, "ca");
  await keygen("authority", ca);
  await keygen("core", join(folder, "core"), "--ca", ca);
  await keygen("edge", join(folder, "tokyo"), "--ca", ca, "--days", "30");
  await keygen("authority", join(folder, "other-ca"));
  await keygen("edge", join(folder, "stranger"), "--ca", join(folder, "other-ca"));
});

class Venue {
  private readonly data = join(temporaryFolder(), "data");
  process: PerpgateProcess | undefined;

  private constructor(readonly port: number) {}

  static async start(): Promise<Venue> {
    const venue = new Venue(await freePort());
    await venue.start();
    return venue;
  }

  async start(): Promise<void> {
    const link = { listen: `${HOST}:${this.port}`, tls: files("core") };
    const config = configurationFile({ limits: UNLIMITED, link });
    const args = ["--port", "0", "--data", this.data, "--config", config];
    this.process = new PerpgateProcess(args);
    await this.process.url();
  }

  edge(name = "tokyo"): PerpgateProcess {
    const { ca, cert, key } = files(name);
    const config = configurationFile({ limits: UNLIMITED, link: { tls: { ca, cert, key } } });
    const core = `${HOST}:${this.port}`;
    const args = ["edge", "--core", core, "--port", "0", "--config", config, "--region", name];
    return new PerpgateProcess(args);
  }
}

/** One order after the other; each is sent again until it has an answer that settles it. */
class Trading {
  readonly answers = new Map<string, number>();
  private nonce = 0;
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(private readonly client: ProcessClient) {
    this.ended = this.run();
  }

  async more(count: number): Promise<void> {
    const goal = this.nonce + count;
    await expect.poll(() => this.nonce, POLL).toBeGreaterThan(goal);
  }

  /** Every order that was acknowledged is there, once. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
    const nonces: unknown[] = [];
    for (let before = ""; ; before = `&before=${nonces.length}`) {
      const path = `/v1/orders?status=all&limit=1000${before}`;
      const { body } = await this.client.request("GET", path);
      const page = Array.isArray(body) ? body.map(fieldsOf) : [];
      nonces.push(...page.map(({ nonce }) => nonce));
      if (page.length < 1_000) break;
    }
    nonces.sort((a, b) => Number(a) - Number(b));
    expect(nonces).toEqual(Array.from({ length: this.nonce }, (_, i) => i + 1));
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const order = { ...ORDER, nonce: this.nonce + 1 };
      const answer = await this.client.place(order).catch(() => undefined);
      const { error } = fieldsOf(answer?.body ?? {});
      const said = answer === undefined ? "cut off" : `${answer.status} ${answer.body.code ?? ""}`;
      this.answers.set(said, (this.answers.get(said) ?? 0) + 1);
      expect(error).toBeUndefined();
      if (answer?.status === 200) this.nonce++;
    }
  }
}

async function traders(url: string): Promise<ProcessClient[]> {
  const clients = Array.from({ length: TRADERS }, () => new ProcessClient(url));
  for (const client of clients) expect((await client.signIn()).status).toBe(200);
  return clients;
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}

function rawEdge(venue: Venue, name: string): TLSSocket {
  const { ca, cert, key } = files(name);
  const read = (path: string) => readFileSync(path, "utf8");
  const socket = connectTls({
    host: HOST,
    port: venue.port,
    ca: read(ca),
    cert: read(cert),
    key: read(key),
    checkServerIdentity: () => undefined,
  });
  socket.on("error", () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

describe.skipIf(process.platform !== "linux")("edges on another machine (needs /proc)", () => {
  test("sign in, order, stream; the status names region and link", async () => {
    const venue = await Venue.start();
    const edge = venue.edge();
    const url = await edge.url();
    const [client] = await traders(url);
    const stream = await StreamClient.connect(url, client!.token);
    expect(await stream.ask({ op: "subscribe", streams: ["fills", "book.BTCUSD"] })).toMatchObject({
      t: "ok",
    });
    expect((await client!.place({ ...ORDER, nonce: 1 })).status).toBe(200);
    expect((await stream.next("book")).t).toBe("book");
    const { body } = await client!.request("GET", "/v1/status");
    expect(body).toMatchObject({ region: "tokyo", linkMs: expect.any(Number), epoch: 0 });
    // The same session through the venue's own edge.
    const own = client!.at((await venue.process?.url()) ?? "");
    expect((await own.place({ ...ORDER, nonce: 2 })).status).toBe(200);
    expect((await own.request("GET", "/v1/status")).body.region).toBeUndefined();
    edge.signal("SIGTERM");
    expect(await edge.ended).toMatchObject({ code: 0 });
  });

  test("an edge is killed: it is started again, and each order is executed once", async () => {
    const venue = await Venue.start();
    const edge = venue.edge();
    const url = await edge.url();
    const trading = (await traders(url)).map((client) => new Trading(client));
    await Promise.all(trading.map((each) => each.more(20)));
    const [pid = 0] = edge.edges;
    process.kill(pid, "SIGKILL");
    await edge.printed(/an edge has ended; it is started again/, "stderr");
    await Promise.all(trading.map((each) => each.more(20)));
    await Promise.all(trading.map((each) => each.stop()));
  });

  test("the core is killed and started again: the edge stays, orders in flight are answered once", async () => {
    const venue = await Venue.start();
    const edge = venue.edge();
    const url = await edge.url();
    const edges = edge.edges;
    const trading = (await traders(url)).map((client) => new Trading(client));
    await Promise.all(trading.map((each) => each.more(20)));
    venue.process?.killAll();
    await venue.process?.ended;
    await expect.poll(() => isReady(url), POLL).toBe(false);
    expect((await fetch(`${url}/v1/markets`)).status).toBe(503);
    await venue.start();
    await Promise.all(trading.map((each) => each.more(20)));
    await Promise.all(trading.map((each) => each.stop()));
    expect(edge.edges).toEqual(edges);
    const allowed = new Set(["200 ", "503 not_executed", "503 outcome_unknown"]);
    const said = trading.flatMap(({ answers }) => [...answers.keys()]);
    expect(said.filter((each) => !allowed.has(each))).toEqual([]);
  });

  test("strangers, rubbish, floods and a peer that never reads: the edge's traders go on", async () => {
    const venue = await Venue.start();
    const edge = venue.edge();
    const url = await edge.url();
    const trading = (await traders(url)).map((client) => new Trading(client));
    const plain = connect({ host: HOST, port: venue.port }).on("error", () => undefined);
    plain.write("GET / HTTP/1.1\r\n\r\n");
    const closed = (socket: { once(event: "close", listener: () => void): unknown }) =>
      new Promise<void>((resolve) => socket.once("close", resolve));
    await closed(plain.resume());
    await closed(rawEdge(venue, "stranger").resume());
    const rubbish = rawEdge(venue, "tokyo").resume();
    rubbish.write(Buffer.alloc(1 << 20, 0xab));
    await closed(rubbish);
    const flood = rawEdge(venue, "tokyo").resume();
    // Frames of the least length, and of no type.
    const frames = Buffer.alloc(12 * 1_000_000);
    for (let at = 0; at < frames.length; at += 12) frames.writeUInt32LE(8, at);
    flood.write(frames);
    await closed(flood);
    // Neither reads nor speaks, so it does not see that its link has ended.
    rawEdge(venue, "tokyo");
    await venue.process?.printed(/the edge has been silent for 2000 ms/, "stderr");
    await Promise.all(trading.map((each) => each.more(20)));
    await Promise.all(trading.map((each) => each.stop()));
    expect(trading.flatMap(({ answers }) => [...answers.keys()])).toEqual(
      trading.map(() => "200 "),
    );
  });

  test("a certificate of another authority: the edge never serves, and says why", async () => {
    const venue = await Venue.start();
    const edge = venue.edge("stranger");
    await edge.printed(/a link to a core has ended/, "stderr");
    edge.signal("SIGTERM");
    expect(await edge.ended).toMatchObject({ code: 0, stdout: "" });
  });
});
