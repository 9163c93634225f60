/** A stream that lost its end, and one that was filled again while a core was away. */

import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { until } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createStream } from "./init.js";
import {
  FaultProxy,
  isWithoutNatsServer,
  LogMember,
  type MemoryMirror,
  NatsCluster,
  type NatsServer,
} from "./testing/index.js";

const STREAM = "venue";

describe.skipIf(isWithoutNatsServer())("a stream that was rolled back", () => {
  let cluster: NatsCluster;
  let server: NatsServer;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1 });
    const [only] = cluster.servers;
    if (only === undefined) throw new Error("no server");
    server = only;
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  async function withNats<T>(run: (nats: NatsConnection) => Promise<T>): Promise<T> {
    const nats = await connect({ servers: server.url });
    return run(nats).finally(() => nats.close());
  }

  async function member(stream: string, url: string, mirror?: MemoryMirror): Promise<LogMember> {
    const started = await LogMember.start({ servers: [url], stream, rank: 0 }, mirror);
    onTestFinished(() => started.log.close());
    return started;
  }

  /** Stops the server, and starts it again; returns where a copy of what it had is. */
  async function copied(name: string): Promise<string> {
    await server.stop();
    const copy = join(cluster.folder, name);
    server.copyStore(copy);
    server.start();
    await cluster.ready();
    return copy;
  }

  async function restored(copy: string): Promise<void> {
    await server.kill();
    server.restoreStore(copy);
    server.start();
    await cluster.ready();
  }

  test("and filled again by a core that had read less: one that had read further accepts nothing of it, and stops", async () => {
    await withNats((nats) => createStream(nats, { stream: STREAM, replicas: 1 }));
    const proxy = await FaultProxy.start(server.url, STREAM);
    onTestFinished(() => proxy.close());
    const further = await member(STREAM, proxy.url);
    const kept = await further.written("kept");
    const copy = await copied("copy");
    await further.written("lost");
    // From now on it hears nothing, and nobody hears it.
    proxy.isSilent = true;
    await restored(copy);
    const { end } = further.mirror;
    expect(end).toBeGreaterThan(kept);
    const less = await member(STREAM, server.url, further.mirror.upTo(kept));
    await until(() => less.leads);
    while (less.mirror.end <= end) await less.written(`instead ${less.mirror.end}`);
    proxy.isSilent = false;
    proxy.cut();
    const error = await further.log.stopped;
    expect(error.message).toMatch(
      /another message at sequence \d+ than this gateway has applied|contradicts this core's log/,
    );
    expect(further.mirror.end).toBe(end);
    expect(less.stopped).toBeUndefined();
  }, 60_000);

  test("and not filled again: after 10 s the core stops, and its mirror is refused by a start", async () => {
    const stream = "shorter";
    await withNats((nats) => createStream(nats, { stream, replicas: 1 }));
    const core = await member(stream, server.url);
    await core.written("kept");
    const copy = await copied("shorter-copy");
    await core.written("lost");
    await restored(copy);
    core.submit("refused");
    const again = member(stream, server.url, core.mirror.upTo(core.mirror.end));
    const refused = expect(again).rejects.toThrow(
      /^the stream ends at sequence \d+, but this gateway's mirror at \d+: messages were lost; .*reseed/,
    );
    expect((await core.log.stopped).message).toMatch(
      /^the stream has ended at sequence \d+ for 10 s, but .* sequence \d+: messages were lost; .*reseed/,
    );
    await refused;
  }, 60_000);
});
