/**
 * One writer on three real servers: leaders of the log that are killed, stopped and cut off, stream leaders
 * that are, claims at the same time and in elections. PERPGATE_FENCE_FAULTS repeats them that often.
 *
 * After each: every acknowledged text is in every mirror, once, at its sequence; what was refused is in none;
 * the mirrors are equal; no batch of another epoch was stored.
 */

import { connect, type NatsConnection } from "@nats-io/transport-node";
import { decodeMessage } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askThrough } from "./ask.js";
import { createStream } from "./init.js";
import { streamState } from "./jetstream-api.js";
import {
  finishedWithin,
  isWithoutNatsServer,
  LogMember,
  MemoryMirror,
  NatsCluster,
} from "./testing/index.js";
import { mirrored } from "./testing/memory-mirror.js";

const TIMES = Number(process.env.PERPGATE_FENCE_FAULTS ?? 1);
/** While JetStream has a leader. */
const TAKEOVER_MS = 3_000;
/** While it elects, and what a takeover takes after that. */
const ELECTION_MS = 12_000 + TAKEOVER_MS;

describe.skipIf(isWithoutNatsServer())("one writer, fenced by the stream", () => {
  let nats: NatsCluster;
  let stream = "";
  let streams = 0;
  let members: LogMember[] = [];
  let texts = 0;
  let work: NodeJS.Timeout | undefined;

  beforeAll(async () => {
    nats = await NatsCluster.start({ canCutOff: true });
  }, 120_000);

  afterAll(async () => {
    await nats?.remove();
  });

  beforeEach(async () => {
    stream = `venue${++streams}`;
    await nats.restartAll();
    await withNats((to) => createStream(to, { stream, maxBytes: 1e9 }));
    members = [];
  }, 120_000);

  afterEach(async () => {
    clearInterval(work);
    nats.rejoin();
    await Promise.all(members.map(({ log }) => log.close()));
  });

  async function withNats<T>(run: (to: NatsConnection) => Promise<T>): Promise<T> {
    const to = await connect({ servers: nats.urls() });
    try {
      return await run(to);
    } finally {
      await to.close();
    }
  }

  async function join(rank: number, mirror = new MemoryMirror()): Promise<LogMember> {
    const servers = nats.urls(rank % 3);
    const member = await LogMember.start({ servers, stream, rank }, mirror);
    members.push(member);
    return member;
  }

  /** Three cores, one of which leads, and texts for whichever leads. */
  async function begin(): Promise<LogMember> {
    await Promise.all([0, 1, 2].map((rank) => join(rank)));
    work = setInterval(() => {
      for (const member of members) if (member.leads) member.submit(`text ${++texts}`);
    }, 5);
    return acknowledgedBy(() => true, ELECTION_MS);
  }

  /** The first that leads and has something acknowledged from now on. */
  async function acknowledgedBy(
    isMeant: (member: LogMember) => boolean,
    withinMs: number,
  ): Promise<LogMember> {
    const before = new Map(members.map((member) => [member, member.acknowledged.size]));
    const found = (): LogMember | undefined =>
      members.find(
        (member) =>
          isMeant(member) && member.leads && member.acknowledged.size > (before.get(member) ?? 0),
      );
    return finishedWithin(withinMs, () => until(found));
  }

  /** A server that was cut off finds the stream's leader again moments later. */
  function stateOnceLed(to: NatsConnection) {
    return askThrough(to, ELECTION_MS, (through) => streamState(through, stream));
  }

  async function audit(): Promise<void> {
    clearInterval(work);
    const alive = members.filter(({ stopped }) => stopped === undefined);
    expect(members.map(({ stopped }) => stopped?.message)).toEqual(members.map(() => undefined));
    const last = (await withNats(stateOnceLed)).lastSeq;
    await until(() => alive.every(({ mirror }) => mirror.end >= last));
    const end = Math.min(...alive.map(({ mirror }) => mirror.end));
    const at = new Map<string, number>();
    for (let sequence = 1; sequence <= end; sequence++) {
      const [first, ...others] = alive.map(({ mirror }) => mirror.records[sequence - 1]!);
      for (const other of others) expect(Buffer.compare(first!, other), `${sequence}`).toBe(0);
      for (const record of decodeMessage(mirrored(first!).message)?.records ?? []) {
        const text = Buffer.from(record).toString();
        if (!text.startsWith("text")) continue;
        expect(at.get(text), `${text} is stored twice`).toBeUndefined();
        at.set(text, sequence);
      }
    }
    for (const { acknowledged, refused, drops } of members) {
      expect(drops).toBe(0);
      for (const [text, sequence] of acknowledged) {
        if (sequence <= end) expect(at.get(text), text).toBe(sequence);
      }
      for (const text of refused) expect(at.has(text), `${text} was refused`).toBe(false);
    }
  }

  const repeated = Array.from({ length: TIMES }, (_, index) => index + 1);

  test.each(repeated)(
    "a leader that is gone without a word (%i): another acknowledges within 3 s",
    async () => {
      const leader = await begin();
      await leader.log.close();
      members = members.filter((member) => member !== leader);
      await acknowledgedBy(() => true, TAKEOVER_MS);
      const { mirror } = leader;
      members.push(await LogMember.start({ servers: nats.urls(), stream, rank: 0 }, mirror));
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "a leader that hands over (%i): the other acknowledges within 1 s",
    async () => {
      const leader = await begin();
      expect(leader.log.handOver()).not.toBe("");
      await acknowledgedBy((member) => member !== leader, 1_000);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "the stream's leader is killed (%i): one core goes on, nothing is lost",
    async () => {
      await begin();
      const server = await nats.streamLeader(stream);
      await server.kill();
      await acknowledgedBy(() => true, ELECTION_MS);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "the stream's leader is stopped for 8 s (%i): one core goes on, nothing is stored twice",
    async () => {
      await begin();
      const server = await nats.streamLeader(stream);
      server.pause();
      try {
        await acknowledgedBy(() => true, ELECTION_MS);
      } finally {
        server.resume();
      }
      await acknowledgedBy(() => true, ELECTION_MS);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader's server is cut off from the others (%i): the core moves, and no core exits",
    async () => {
      const leader = await begin();
      const server = nats.servers.find(({ url }) => url === leader.log.status().server)!;
      nats.cutOff(server);
      const hasMoved = () =>
        leader.log.status().server !== server.url && leader.log.status().server !== "";
      await finishedWithin(TAKEOVER_MS, () => until(hasMoved));
      await acknowledgedBy(() => true, ELECTION_MS);
      nats.rejoin();
      await acknowledgedBy(() => true, ELECTION_MS);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "claims at the same time (%i): one leads",
    async () => {
      // Of one rank: their silences end together.
      const both = await Promise.all(
        [0, 1, 2].map((server) =>
          LogMember.start({ servers: nats.urls(server), stream, rank: 0, core: `twin-${server}` }),
        ),
      );
      members.push(...both);
      work = setInterval(() => {
        for (const member of members) member.submit(`text ${++texts}`);
      }, 20);
      await acknowledgedBy(() => true, ELECTION_MS);
      await until(() => both.every(({ epoch }) => epoch > 0));
      expect(both.filter(({ leads }) => leads)).toHaveLength(1);
      await audit();
    },
    120_000,
  );

  test("a standby that is behind, and one that has lost its mirror, read first", async () => {
    const leader = await begin();
    await until(() => leader.mirror.end > 50);
    const behind = await join(3, leader.mirror.upTo(10));
    const empty = await join(4);
    for (const each of [behind, empty]) expect(each.mirror.end).toBeGreaterThan(50);
    await audit();
  }, 120_000);

  test("the last message by the filter of all subjects is the stream's last", async () => {
    const leader = await begin();
    await until(() => leader.log.status().obstacle === undefined);
    const standby = members.find(({ leads }) => !leads)!;
    await until(() => standby.log.status().obstacle === "not_silent");
  }, 120_000);
});
