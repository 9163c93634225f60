/**
 * A cluster of real processes whose storage is full, loses what was not synced, or comes back older; and
 * cores of two releases. All tests share one cluster and one load; the last one audits every mirror.
 * `PERPGATE_CLUSTER_RUNS` repeats what leaves the servers as they are.
 */

import { join } from "node:path";
import {
  isWithoutNatsServer,
  LogMember,
  MemoryMirror,
  type NatsServer,
} from "@perpgate/cluster/testing";
import { inspectLog, nodeDisk } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { Random } from "@perpgate/protocol/random";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askControl } from "../serve/control-socket.js";
import { type ClientAnswer, ProcessClient } from "../testing/client.js";
import { compileFaultLibrary, FaultControl } from "../testing/faulty-disk.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { UnsyncedPages } from "../testing/unsynced-pages.js";
import { journalFolderOf } from "./folders.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { ConnectedHolders } from "./testing/connected-holders.js";
import { MirrorLog } from "./testing/mirror-log.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";

const RUNS = Number(process.env.PERPGATE_CLUSTER_RUNS ?? 1);
const TIMEOUT = 120_000 * (RUNS + 1);
const STREAM = "perpgate";
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };
/** Of a core that makes none: later than any that the log names. */
const UNKNOWN_BLOCKS = {
  lastBlock: () => ({ number: Number.MAX_SAFE_INTEGER, hash: new Uint8Array(32) }),
  blockHash: () => undefined,
};
const library = compileFaultLibrary(afterAll);
const isWithoutFaults = "missing" in library;

describe.skipIf(isWithoutNatsServer())("storage of a cluster", { timeout: TIMEOUT }, () => {
  let cluster: RunningCluster;
  let load: ClusterLoad;
  let holders: ConnectedHolders;
  const disks: FaultControl[] = [];
  const random = new Random(18, "storage");

  beforeAll(async () => {
    cluster = await RunningCluster.start(
      {
        cores: 4,
        environment: (member) => {
          if ("missing" in library) return {};
          disks[member] = new FaultControl(library.path, temporaryFolder(afterAll));
          return disks[member].environment;
        },
      },
      afterAll,
    );
    holders = new ConnectedHolders([...cluster.gateways], afterAll);
    load = await ClusterLoad.start(cluster.urls, 3, 1);
    await load.more(20);
  }, TIMEOUT);

  // No order may be canceled of a session that was connected during a whole test.
  beforeEach(() => holders.renew(), TIMEOUT);
  afterEach(() => holders.note(), TIMEOUT);

  async function repeat(step: (run: number) => Promise<void>): Promise<void> {
    for (let run = 0; run < RUNS; run++) {
      await holders.renew();
      await step(run);
      await load.more(20);
      await holders.note();
    }
  }

  /** Until the next sync of the gateway's mirror does not return, or the one after `more` others. */
  async function stallSync(member: number, more: number): Promise<void> {
    disks[member]?.trigger({ call: "sync", error: "stall", path: ".log", after: more });
    await until(() => disks[member]?.hasStalled === true);
  }

  /** Again until the servers confirm it: on a busy machine the answer may be late. */
  async function limitBytes(bytesOf: (bytes: number) => number): Promise<void> {
    const update = () =>
      cluster.nats.withManager(async ({ streams }) => {
        const { config, state } = await streams.info(STREAM);
        await streams.update(STREAM, { ...config, max_bytes: bytesOf(state.bytes) });
        return true;
      });
    await until(() => update().catch(() => false));
  }

  test("the stream is full: 503 and not ready, and trading goes on once there is room", () =>
    repeat(async () => {
      const refusedBefore = refusals(load);
      await limitBytes((bytes) => bytes + 20_000);
      for (const gateway of cluster.gateways) {
        await until(async () =>
          /maximum bytes exceeded/.test((await gateway.notReadyReason()) ?? ""),
        );
      }
      // The core that leads has a batch that the stream refuses. An answer may still be on its way.
      const positions = cluster.gateways.map(async (gateway) => (await gateway.status()).position);
      const last = Math.max(...(await Promise.all(positions)).map(Number));
      expect(last).toBeGreaterThan(0);
      await until(() => refusals(load) > refusedBefore);
      expect(load.acknowledged.filter(({ ackNonce }) => ackNonce > last)).toEqual([]);
      await limitBytes(() => -1);
      await load.more(20);
      await cluster.ready();
    }));

  test.skipIf(isWithoutFaults)(
    "the disk of a mirror is full: that core exits, and comes back",
    () =>
      repeat(async (run) => {
        const gateway = cluster.gateway(1);
        disks[1]?.trigger({ call: "write", error: "ENOSPC", path: ".log", after: run });
        const { code, stderr } = await gateway.process.ended;
        expect(code, stderr).toBe(1);
        expect(stderr).toMatch(/^perpgate: the venue stopped: .*space/m);
        await load.more(20);
        disks[1]?.clear();
        await gateway.start();
        await cluster.whole();
      }),
  );

  test.skipIf(isWithoutFaults)(
    "a power failure keeps any of the mirror's unsynced pages: they are cut, and read from the log again",
    () =>
      repeat(async () => {
        const gateway = cluster.gateway(2);
        await load.only([0, 1].map((member) => cluster.gateway(member).url));
        let pages: UnsyncedPages;
        do {
          await stallSync(2, 0);
          // All of it waits for that sync, and is the next commit.
          await load.more(50);
          pages = new UnsyncedPages(journalFolderOf(gateway.data));
          await stallSync(2, 1);
          // The sync of a new segment may be between the two.
        } while (pages.changed < 2);
        await gateway.kill();
        disks[2]?.clear();
        expect(pages.lose(random)).toBeGreaterThan(1);
        await gateway.start();
        await load.only(cluster.urls);
        await cluster.whole();
      }),
  );

  test("a core of a newer release leads the others; an early upgrade is refused", async () => {
    const gateway = cluster.gateway(2);
    await gateway.stop();
    gateway.isNewer = true;
    await gateway.start();
    await cluster.whole();
    await load.more(20);
    const leader = await cluster.leader();
    if (leader !== gateway) await askControl(leader.data, { stepDown: gateway.name });
    await until(async () => (await cluster.leader()) === gateway);
    await load.more(20);
    await expect(askControl(gateway.data, { upgrade: true })).rejects.toThrow(
      "core gateway-1 cannot read version 4: update all cores first",
    );
    await load.more(20);
    await cluster.ready();
  });

  test("all servers have all of the stream, the leader included", async () => {
    await cluster.nats.inSync(STREAM);
    await until(async () => (await cluster.gateway(0).status()).cluster.replicasCurrent === 3);
  });

  /**
   * Two servers are killed and come back with what they had before, while the third is paused. `beforeLoss`
   * runs when the gateways that are awake have read what these two will lose.
   */
  async function restoreTwo(
    [first, second, third]: readonly NatsServer[],
    beforeLoss: () => Promise<void>,
  ): Promise<void> {
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("three");
    const restored = [first, second];
    const copyOf = ({ name }: NatsServer): string => join(cluster.nats.folder, `${name}-copy`);
    await Promise.all(restored.map((server) => server.kill()));
    for (const server of restored) {
      server.copyStore(copyOf(server));
      server.start();
    }
    await load.more(20);
    await cluster.nats.inSync(STREAM);
    // A leader that is paused would answer as one for some time afterwards.
    while ((await cluster.nats.streamLeader(STREAM)) === third) {
      await cluster.nats.stepDown(STREAM);
      await load.more(5);
    }
    // Connected to the third server, both asleep until it is over.
    await load.only([0, 1].map((member) => cluster.gateway(member).url));
    cluster.gateway(2).process.signalAll("SIGSTOP");
    await load.more(20);
    await beforeLoss();
    third.pause();
    await Promise.all(restored.map((server) => server.kill()));
    for (const server of restored) {
      server.restoreStore(copyOf(server));
      server.start();
    }
    await cluster.nats.streamLeader(STREAM);
  }

  /** A core that has read nothing of what was lost takes its places, and some more. */
  async function fillAgain(last: number): Promise<void> {
    const servers = cluster.nats.urls().slice(0, 2);
    const filler = await LogMember.start(
      { servers, stream: STREAM, rank: 0 },
      new MemoryMirror(),
      UNKNOWN_BLOCKS,
    );
    while (filler.mirror.end < last) await filler.written(`instead of ${filler.mirror.end + 1}`);
    await filler.log.close();
  }

  const longestMirror = (): string =>
    cluster.gateways.map(({ data }) => data).toSorted((a, b) => endOf(b) - endOf(a))[0] ?? "";

  /**
   * What it has read, a core that leads answers again: also the order of a client whose own gateway had not
   * heard of it when the servers were killed.
   */
  function expectRead(acknowledged: ClusterLoad["acknowledged"]): void {
    const log = new MirrorLog(longestMirror());
    log.replayTo(log.end);
    log.close();
    for (const { session, nonce, ackNonce, orderId } of acknowledged) {
      const name = `${session}/${nonce}`;
      expect(log.executed.get(ackNonce), name).toMatchObject({ name, orderId });
    }
  }

  test("two of three servers come back with an older copy: every core exits, also the one that slept; a reseed restores all", async () => {
    const client = new ProcessClient(cluster.gateway(1).url);
    expect((await client.signIn()).status).toBe(200);
    const place = () => client.place({ ...ORDER, nonce: 1 });
    let before: ClientAnswer | undefined;
    await restoreTwo(cluster.nats.servers, async () => {
      before = await place();
    });
    const acknowledged = load.acknowledged.length;
    // The servers have lost it; the gateway has read it.
    const again = await place();
    const expectStopped = async (gateway: RunningGateway): Promise<void> => {
      const { code, stderr } = await gateway.process.ended;
      expect(code, `${gateway.name}: ${stderr}`).toBe(1);
      expect(stderr).toMatch(/^perpgate: the venue stopped: .*sequence \d+/m);
    };
    await Promise.all([0, 1].map((member) => expectStopped(cluster.gateway(member))));
    await fillAgain(Math.max(...cluster.gateways.map(({ data }) => endOf(data))) + 10);
    cluster.nats.servers[2]?.resume();
    cluster.gateway(2).process.signalAll("SIGCONT");
    await expectStopped(cluster.gateway(2));
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    const { ackNonce, orderId, leaf } = again.body;
    expect(before).toMatchObject({ status: 200, body: { ackNonce, orderId, leaf } });
    const session = Number(client.token.split(".")[1]);
    const ids = { ackNonce: Number(ackNonce), orderId: Number(orderId) };
    load.acknowledged.push({ session, nonce: 1, ...ids });
    expectRead(load.acknowledged.slice(acknowledged));
    await cluster.nats.empty();
    const data = longestMirror();
    const log = cluster.nats.urls().join(",");
    const args = ["cluster", "reseed", "--data", data, "--log", log, "--config", cluster.config];
    const reseeded = await new PerpgateProcess(args).ended;
    expect(reseeded, reseeded.stderr).toMatchObject({ code: 0 });
    await Promise.all(cluster.gateways.map((gateway) => gateway.start()));
    await load.only(cluster.urls);
    await load.more(50);
  });

  test("afterwards: nothing lost, nothing twice, nothing that was not to be; all agree, a new gateway too", async () => {
    await cluster.add();
    await load.only(cluster.urls);
    await load.more(20);
    await load.stop();
    await cluster.stop();
    const log = await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      load,
    );
    expect(holders.expectKept(log)).toBeGreaterThan(0);
  });
});

/** Answers that were neither an acknowledgement nor for want of a process. */
function refusals({ refusals }: ClusterLoad): number {
  return (refusals.get("not_executed") ?? 0) + (refusals.get("outcome_unknown") ?? 0);
}

function endOf(folder: string): number {
  return inspectLog(nodeDisk, journalFolderOf(folder))?.end.batch ?? 0;
}
