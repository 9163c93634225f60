/** A core far behind its stream: the work of one turn of the event loop, and its backlog, are bounded. */

import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { Batch } from "@perpgate/journal";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FencedLog } from "./fenced-log.js";
import { createStream } from "./init.js";
import { LogStreamReader } from "./reader.js";
import { subjectOf } from "./subjects.js";
import { isWithoutNatsServer, MemoryMirror, NatsCluster, request } from "./testing/index.js";
import { MAX_WAITING, TURN_BYTES, TURN_MESSAGES } from "./turns.js";

const MESSAGES = 3_000;

describe.skipIf(isWithoutNatsServer())("a core far behind", () => {
  let cluster: NatsCluster;
  let nats: NatsConnection;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1 });
    nats = await connect({ servers: cluster.urls() });
    await fill("small", MESSAGES, 100);
    await fill("large", 200, 20_000);
  });

  afterAll(async () => {
    await nats?.close();
    await cluster?.remove();
  });

  async function fill(stream: string, messages: number, bytes: number): Promise<void> {
    await createStream(nats, { stream, replicas: 1, maxBytes: 100_000_000 });
    await publish(subjectOf(stream, "rubbish"), messages, Buffer.alloc(bytes));
  }

  async function publish(subject: string, messages: number, data: Uint8Array): Promise<void> {
    for (let number = 1; number < messages; number++) nats.publish(subject, data);
    await request(nats, subject, data);
  }

  const nothing = (): undefined => undefined;

  async function open(stream: string, room: () => Promise<void> | undefined = nothing) {
    const mirror = new MemoryMirror();
    const hooks = {
      lastBlock: () => ({ number: 0, hash: new Uint8Array(32) }),
      blockHash: nothing,
      room,
      leader: () => ({ epoch: 0, run: "" }),
      claim: nothing,
      isReady: () => false,
      edges: () => 0,
      mayPropose: nothing,
    };
    const logger = { info: nothing, warn: nothing };
    const servers = cluster.urls();
    const core = {
      core: "late",
      run: "a".repeat(32),
      rank: 0,
      versions: [3, 3],
      release: "",
    } as const;
    const access = { name: "late", servers, stream };
    const log = await FencedLog.open({ ...access, ...core, mirror, hooks, logger });
    onTestFinished(() => log.close());
    return { log, mirror };
  }

  /** Reads everything; returns the sequences, and how many there were in each turn of the event loop. */
  async function read(log: FencedLog) {
    const sequences: number[] = [];
    const turns = [0];
    const count = (): void => {
      turns.push(0);
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await log.start(({ end }) => {
      sequences.push(end.batch);
      turns[turns.length - 1]!++;
    });
    clearImmediate(next);
    return { sequences, most: Math.max(...turns) };
  }

  const upTo = (end: number): number[] => Array.from({ length: end }, (_, index) => index + 1);

  test("at most 64 messages in a turn of the event loop, all of them, in order", async () => {
    const { log, mirror } = await open("small");
    const { sequences, most } = await read(log);
    expect(sequences).toEqual(upTo(MESSAGES));
    expect(mirror.end).toBe(MESSAGES);
    expect(most).toBeLessThanOrEqual(TURN_MESSAGES);
  });

  test("large messages: fewer in a turn of the event loop", async () => {
    const { log } = await open("large");
    const { sequences, most } = await read(log);
    expect(sequences).toEqual(upTo(200));
    expect(most).toBeLessThanOrEqual(Math.ceil(TURN_BYTES / 20_000));
  });

  test("waits while what applies the batches has no room, and goes on afterwards", async () => {
    const bound = 500;
    let backlog = 0;
    let highest = 0;
    let waits = 0;
    const { log } = await open("small", () => {
      if (backlog <= bound) return undefined;
      waits++;
      return new Promise((resolve) => {
        setTimeout(() => {
          backlog = 0;
          resolve();
        }, 20);
      });
    });
    await log.start(() => {
      highest = Math.max(highest, ++backlog);
    });
    expect(log.status().lastSeq).toBe(MESSAGES);
    expect(waits).toBeGreaterThan(3);
    expect(highest).toBeLessThanOrEqual(bound + TURN_MESSAGES);
    expect(log.status().reconnects).toBe(0);
  });

  test("room that never comes: the log stops with the reason", async () => {
    const { log, mirror } = await open("small", () =>
      mirror.end < 1_000 ? undefined : Promise.reject(new Error("the history has failed")),
    );
    const started = log.start(nothing);
    await expect(started).rejects.toThrow("the history has failed");
    expect(mirror.end).toBeLessThan(1_000 + TURN_MESSAGES);
  });

  test("a batch that cannot be applied: the log stops there, and delivers nothing more", async () => {
    const { log, mirror } = await open("small");
    const sequences: number[] = [];
    const started = log.start(({ end }: Batch) => {
      sequences.push(end.batch);
      if (end.batch === 1_234) throw new Error("not applied");
    });
    await expect(started).rejects.toThrow("stopped at sequence 1234: not applied");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(sequences).toEqual(upTo(1_234));
    expect(mirror.end).toBe(1_234);
  });

  test("a close in the middle: nothing is delivered afterwards", async () => {
    const { log } = await open("small");
    let delivered = 0;
    await new Promise<void>((resolve) => {
      void log.start(() => {
        if (++delivered === 1_234) resolve(log.close());
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(delivered).toBe(1_234);
  });

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test("more pushed than it may keep: the rest is fetched", async () => {
    const stream = "flooded";
    await createStream(nats, { stream, replicas: 1 });
    const read: number[] = [];
    const deliver = ({ sequence }: { readonly sequence: number }) => read.push(sequence);
    const reader = new LogStreamReader(stream, 0, { deliver, room: nothing, failed: nothing });
    onTestFinished(() => reader.close());
    reader.attach(nats, 0);
    const subject = subjectOf(stream, "a".repeat(32));
    const asked: number[] = [];
    nats.subscribe("$JS.API.DIRECT.GET.flooded", {
      callback: (_, message) => {
        asked.push(message.json<{ seq: number }>().seq);
      },
    });
    for (const sequence of upTo(5_000)) {
      reader.message({ sequence, subject, data: Buffer.from("pushed") });
    }
    const { last } = reader;
    expect(last).toBe(TURN_MESSAGES + MAX_WAITING);
    while (!asked.includes(last + 1)) await turn();
    expect(read).toEqual(upTo(last));
  });
});
