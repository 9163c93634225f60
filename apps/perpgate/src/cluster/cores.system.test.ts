/**
 * Venues on the fenced log, three real servers, and edges that send to the core that leads: cores that die,
 * hand over and are cut off, and stream leaders that are killed. PERPGATE_CORE_FAULTS repeats them that often.
 *
 * After each: every acknowledged order is in every mirror at its position, once; no nonce ran twice; what was
 * answered `not_executed` never ran; all mirrors lead to the same state and blocks.
 */

import {
  finishedWithin,
  isWithoutNatsServer,
  NatsCluster,
  type NatsServer,
} from "@perpgate/cluster/testing";
import { until } from "@perpgate/journal/testing";
import { PUBLIC_READER } from "@perpgate/venue";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ArchiveReads } from "../archive/archive-reads.js";
import { Indexer } from "../archive/indexer.js";
import { expectSameRows } from "../archive/testing/same-rows.js";
import { readConfiguration } from "../serve/configuration.js";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { PostgresServer, postgresPrograms } from "../testing/postgres-server.js";
import { beginCluster } from "./init.js";
import { auditMirrors } from "./testing/audit.js";
import { CoreInProcess } from "./testing/core-in-process.js";
import { CuttableCore, CuttableServers } from "./testing/cuts.js";
import { EdgeInProcess } from "./testing/edge-in-process.js";

const programs = postgresPrograms();
const TIMES = Number(process.env.PERPGATE_CORE_FAULTS ?? 1);
const repeated = Array.from({ length: TIMES }, (_, index) => index + 1);
/** While JetStream has a leader. */
const TAKEOVER_MS = 3_000;
/** While it elects, and what a takeover takes after that. */
const ELECTION_MS = 12_000 + TAKEOVER_MS;
/** No core has to notice that another one is gone. */
const HAND_OVER_MS = 1_000;

describe.skipIf(isWithoutNatsServer())("cores on the fenced log, and edges", () => {
  let nats: NatsCluster;
  let streams = 0;
  let cores: CoreInProcess[] = [];
  let edges: EdgeInProcess[] = [];
  /** How each edge reaches each core, and each core its servers. */
  let paths: CuttableCore[][] = [];
  let servers: CuttableServers[] = [];

  beforeAll(async () => {
    nats = await NatsCluster.start({ canCutOff: true });
  }, 120_000);

  afterAll(async () => {
    await nats?.remove();
  });

  beforeEach(async () => {
    await nats.restartAll();
    const log = { servers: [...nats.urls()], stream: `venue${++streams}` };
    const settings = readConfiguration({ log }, {});
    await beginCluster(settings, 3);
    const folder = temporaryFolder();
    servers = await Promise.all([0, 1, 2].map((rank) => CuttableServers.of(nats.urls(rank))));
    cores = servers.map(({ urls }, rank) => CoreInProcess.in(folder, rank, settings, urls));
    await Promise.all(cores.map((core) => core.start()));
    const reached = () => Promise.all(cores.map((core) => CuttableCore.of(core)));
    paths = [await reached(), await reached()];
    edges = paths.map((ofEdge) => new EdgeInProcess(ofEdge));
    await Promise.all(edges.map((edge) => edge.trade(4)));
    await more(50, ELECTION_MS);
  }, 120_000);

  afterEach(async () => {
    nats.rejoin();
    await Promise.all(edges.map((edge) => edge.end()));
    await Promise.all(cores.map((core) => core.stop()));
    await Promise.all([...paths.flat(), ...servers].map((path) => path.close()));
  }, 60_000);

  /** Resolves once each edge has as many more answers; fails if the first takes longer than it may. */
  async function more(count: number, limitMs: number): Promise<void> {
    await finishedWithin(limitMs, () => Promise.all(edges.map((edge) => edge.more(1))));
    await Promise.all(edges.map((edge) => edge.more(count - 1)));
  }

  function leader(): CoreInProcess {
    const found = cores.find(({ leads }) => leads);
    if (found === undefined) throw new Error("no core leads");
    return found;
  }

  /** The server that a core is connected to. */
  function serverOf({ log, name }: CoreInProcess): NatsServer {
    const { server } = log.status();
    const core = cores.findIndex((each) => each.name === name);
    const at = servers[core]?.urls.indexOf(server) ?? -1;
    const url = nats.urls(core)[at];
    const found = nats.servers.find((each) => each.url === url);
    if (found === undefined) throw new Error(`no server at ${server}`);
    return found;
  }

  async function audit(): Promise<void> {
    await Promise.all(edges.map((edge) => edge.end()));
    const last = Math.max(...cores.map(({ venue }) => venue.seq));
    await until(() => cores.every(({ venue }) => venue.seq >= last));
    await Promise.all(cores.map((core) => core.stop()));
    for (const core of cores) expect(core.faults, core.name).toEqual([]);
    await auditMirrors(
      cores.map(({ data }) => data),
      ...edges,
    );
    for (const { canceled } of edges) expect(new Set(canceled).size).toBe(canceled.length);
  }

  /** Whom no order was answered with an error. */
  function expectNoErrors(): void {
    for (const { refused } of edges) expect(Object.fromEntries(refused)).toEqual({});
  }

  test.each(repeated)(
    "the leader dies (%i): another answers what it had in flight, once",
    async () => {
      const dead = leader();
      await dead.kill();
      await more(50, TAKEOVER_MS);
      expect(leader()).not.toBe(dead);
      expectNoErrors();
      await dead.start();
      await more(50, TAKEOVER_MS);
      expect(dead.leads).toBe(false);
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  test.skipIf(programs === undefined)(
    "an archive: each core goes on with what another has fed, and reads it",
    async () => {
      const server = await PostgresServer.start(programs ?? "");
      const feed = async ({ data: directory }: CoreInProcess): Promise<number> => {
        const report = { onProgress: () => undefined, onWait: () => undefined, onFailure };
        const settings = { directory, postgres: server.url, once: true, isNoted: true };
        const held = await new Indexer(settings, report, new AbortController().signal).run();
        return held.position;
      };
      const onFailure = (reason: string): void => {
        throw new Error(reason);
      };
      const [first, second, third] = cores as [CoreInProcess, CoreInProcess, CoreInProcess];
      expect(new Set(cores.map(({ venue }) => venue.logId)).size).toBe(3);
      await first.venue.history.flush();
      const before = await feed(first);
      await second.stop();
      await more(20, ELECTION_MS);
      await third.venue.history.flush();
      const position = await feed(third);
      expect(position).toBeGreaterThan(before);
      // It is behind the archive.
      expect(await feed(second)).toBe(position);
      await second.start();
      await more(20, ELECTION_MS);
      await until(() => cores.every(({ venue }) => venue.seq > position));
      await Promise.all(edges.map((edge) => edge.end()));
      const reads = new ArchiveReads(server.url, { warn: () => undefined });
      await first.venue.views.archived(reads.query).need(before, PUBLIC_READER);
      await reads.close();
      await Promise.all(cores.map((core) => core.stop()));
      expect(await feed(second)).toBeGreaterThan(position);
      await expectSameRows(server, second.data);
    },
    120_000,
  );

  test.each(repeated)(
    "the leader hands over (%i): orders wait for less than a second",
    async () => {
      const before = leader();
      expect(before.venue.handOver()).not.toBe("");
      await more(50, HAND_OVER_MS);
      expect(before.leads).toBe(false);
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader stops (%i): it hands over first",
    async () => {
      const before = leader();
      await before.stop();
      await more(50, HAND_OVER_MS);
      await before.start();
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader loses its edges (%i): what they had in flight is answered, once",
    async () => {
      const before = leader();
      before.cutEdges();
      await more(50, TAKEOVER_MS);
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  /** How the edges reach the core that leads: all of them, or the first. */
  function pathsTo(core: CoreInProcess, ofEdges: number): CuttableCore[] {
    const all = paths.slice(0, ofEdges).flat();
    return all.filter(({ name }) => name === core.name);
  }

  test.each(repeated.flatMap((time) => [2, 1].map((count) => [count, time])))(
    "the leader is cut off for good from %i of 2 edges (%i): all go on at a core that has both",
    async (count) => {
      const before = leader();
      const cut = pathsTo(before, count);
      await more(50, TAKEOVER_MS);
      for (const path of cut) path.cut();
      await more(50, TAKEOVER_MS);
      expect(before.leads).toBe(false);
      expectNoErrors();
      for (const path of cut) path.rejoin();
      await more(50, TAKEOVER_MS);
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader is cut off from all servers (%i): another one leads, and it writes nothing more",
    async () => {
      const before = leader();
      const cut = servers[cores.indexOf(before)];
      await more(50, TAKEOVER_MS);
      cut?.cut();
      await more(50, TAKEOVER_MS);
      const written = before.venue.seq;
      expectNoErrors();
      cut?.rejoin();
      await until(() => before.venue.seq > written);
      expect(before.leads).toBe(false);
      await audit();
      expectNoErrors();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader's server is cut off from the others (%i), and does not lead the stream: orders go on",
    async () => {
      const server = serverOf(leader());
      if ((await nats.streamLeader(`venue${streams}`)) === server) {
        await nats.stepDown(`venue${streams}`);
      }
      await more(50, ELECTION_MS);
      const errors = edges.map(({ refused }) => Object.fromEntries(refused));
      expect(serverOf(leader())).toBe(server);
      nats.cutOff(server);
      await more(50, TAKEOVER_MS);
      expect(edges.map(({ refused }) => Object.fromEntries(refused))).toEqual(errors);
      nats.rejoin();
      await more(50, TAKEOVER_MS);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "the leader's server is cut off from the others (%i), and leads the stream: orders go on",
    async () => {
      nats.cutOff(await nats.streamLeader(`venue${streams}`));
      await more(50, ELECTION_MS);
      nats.rejoin();
      await more(50, ELECTION_MS);
      await audit();
    },
    120_000,
  );

  test.each(repeated)(
    "the stream's leader is killed (%i): orders go on, each answer is true",
    async () => {
      const server = await nats.streamLeader(`venue${streams}`);
      await server.kill();
      await more(50, ELECTION_MS);
      await audit();
    },
    120_000,
  );
});
