/**
 * A log that gateways of release 0.2 have written, under version 2 of the rules: cores of this release take it
 * over. Sessions, positions and open orders stay, and an order that is sent again acts once.
 */

import { connectToAny, createStream, publishGenesis } from "@perpgate/cluster";
import { isWithoutNatsServer, NatsCluster } from "@perpgate/cluster/testing";
import { until } from "@perpgate/journal/testing";
import { decodeRecord, type Evidence, encodeRecord, NO_EVIDENCE } from "@perpgate/venue";
import { orderCommand, signInCommand } from "@perpgate/venue/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfiguration } from "../serve/configuration.js";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { auditMirrors } from "./testing/audit.js";
import { CoreInProcess } from "./testing/core-in-process.js";
import { EdgeInProcess } from "./testing/edge-in-process.js";
import { NO_CLAIMS, StreamWriter } from "./testing/stream-writer.js";
import { beginningOf } from "./venue-beginning.js";

type Command = Parameters<typeof encodeRecord>[0];

const STREAM = "venue";
/** Release 0.2 reads version 2 alone. */
const OLD_VERSIONS = [2, 2] as const;
const INDEX_TICKS = 650_000;
const SLOT_MS = 200;
/** The silence of 1.5 s, five asks of a second each, and what a machine is late. */
const UPGRADED_MS = 30_000;

/** A gateway of release 0.2, reduced to what it wrote. */
class OldGateway {
  private counter = 0;

  constructor(
    private readonly stream: StreamWriter,
    private readonly writer: string,
    private readonly name: string,
  ) {}

  join(stampMs: number): Promise<void> {
    const { writer, name } = this;
    const keys = { receiptKey: "", certificate: "" };
    return this.write([
      { kind: "WriterJoined", stampMs, writer, name, versions: OLD_VERSIONS, ...keys },
    ]);
  }

  async write(commands: readonly Command[], evidence: readonly Evidence[] = []): Promise<void> {
    const records = commands.map((command, at) =>
      encodeRecord(command, evidence[at] ?? NO_EVIDENCE),
    );
    const { writer, counter } = this;
    const sequence = await this.stream.publish({ writer, counter, records, ...NO_CLAIMS });
    if (sequence === undefined) throw new Error("the servers did not store the batch");
    this.counter++;
  }
}

function signedOrder(side: "long" | "short", nonce: number, price: number) {
  const body = {
    symbol: "BTCUSD",
    side,
    type: "limit",
    margin: 100,
    leverage: 10,
    price,
    reduceOnly: false,
    postOnly: false,
    nonce,
  } as const;
  const signed = Buffer.from(JSON.stringify(body));
  const nothing = new Uint8Array(0);
  return { body, bytes: signed, evidence: { signed, signature: nothing, publicKey: nothing } };
}

describe.skipIf(isWithoutNatsServer())("a log of release 0.2", () => {
  test("is upgraded by the first core before it leads: sessions, positions and orders stay", async () => {
    const nats = await NatsCluster.start();
    onTestFinished(() => nats.remove());
    const log = { servers: [...nats.urls()], stream: STREAM };
    const settings = readConfiguration({ log }, {});
    const startMs = Date.now() - 10_000;

    const connection = await connectToAny({ servers: nats.urls(), name: "test" });
    await createStream(connection, { stream: STREAM, replicas: 3 });
    const [genesis, ...lists] = beginningOf(settings, startMs);
    const { command, evidence } = decodeRecord(genesis!);
    const old = { ...command, engineVersion: 2 } as Command;
    await publishGenesis(connection, STREAM, [encodeRecord(old, evidence), ...lists]);
    await connection.close();

    const stream = await StreamWriter.connect(nats.urls(), STREAM);
    const killed = new OldGateway(stream, "a".repeat(32), "core-1");
    const stopped = new OldGateway(stream, "b".repeat(32), "gateway-2");
    await killed.join(startMs);
    await stopped.join(startMs);
    const slot = Math.floor(startMs / SLOT_MS);
    const market = { market: 0, indexTicks: INDEX_TICKS };
    await killed.write([{ kind: "UpdateIndex", stampMs: startMs, ...market, slot: slot + 1 }]);
    const firstSession = 2 + lists.length + 3;
    const [maker, taker] = [1, 2].map((name) => signInCommand(name, "first", startMs));
    await killed.write([maker!.command, taker!.command], [maker!.evidence, taker!.evidence]);
    const stampMs = startMs;
    const bid = signedOrder("long", 1, 65_000);
    const ask = signedOrder("short", 1, 65_000);
    const resting = signedOrder("long", 2, 64_000);
    await stopped.write(
      [
        { ...orderCommand(firstSession, 1, "long", INDEX_TICKS, 100), stampMs },
        { ...orderCommand(firstSession + 1, 1, "short", INDEX_TICKS, 100), stampMs },
        { ...orderCommand(firstSession, 2, "long", INDEX_TICKS - 10_000, 100), stampMs },
      ],
      [bid.evidence, ask.evidence, resting.evidence],
    );
    await stopped.write([
      { kind: "Tick", slot: slot + 2 },
      { kind: "WriterLeft", stampMs },
    ]);
    await stream.close();

    const folder = temporaryFolder();
    const cores = [0, 1, 2].map((rank) =>
      CoreInProcess.in(folder, rank, settings, nats.urls(rank)),
    );
    const edge = new EdgeInProcess(cores);
    onTestFinished(async () => {
      await edge.end();
      await Promise.all(cores.map((core) => core.stop()));
    });
    await Promise.all(cores.map((core) => core.start()));
    const [first] = cores;
    const { views } = first!.venue;
    expect(views.openOrders(1)).toMatchObject([{ price: 64_000, status: "resting" }]);
    const positions = views.positions(1);
    expect(positions).toHaveLength(1);

    await until(() => cores.some(({ leads }) => leads), { withinMs: UPGRADED_MS });
    expect(first!.venue.epoch).toBe(1);
    expect(views.engineVersion).toBe(3);
    expect(views.positions(1)).toEqual(positions);
    const [order] = views.openOrders(1);

    await until(() => edge.router.leader !== undefined);
    const { key } = maker!.command;
    const session = firstSession;
    const signature = new Uint8Array(0);
    const sent = { session, key, body: resting.body, bytes: resting.bytes, signature };
    // Its first try was answered by a gateway of 0.2.
    const again = await edge.ask("placeOrder", sent);
    expect(again.result?.orderId).toBe(order?.orderId);
    const next = signedOrder("long", 3, 64_000);
    const other = await edge.ask("placeOrder", { ...sent, body: next.body, bytes: next.bytes });
    expect(Number(other.result?.orderId)).toBeGreaterThan(Number(order?.orderId));
    expect(views.openOrders(1)).toHaveLength(2);

    await edge.trade(2);
    await edge.more(20);
    await edge.end();
    const last = first!.venue.seq;
    await until(() => cores.every(({ venue }) => venue.seq >= last));
    await Promise.all(cores.map((core) => core.stop()));
    for (const core of cores) expect(core.faults, core.name).toEqual([]);
    await auditMirrors(
      cores.map(({ data }) => data),
      edge,
    );
  }, 120_000);
});
