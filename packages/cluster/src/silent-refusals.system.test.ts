/** What no answer of JetStream says: a missing right to publish, and a stream that is gone. */

import { POLL } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { createStream } from "./init.js";
import { connectToAny } from "./link.js";
import { isWithoutNatsServer, LogGateway, NatsCluster } from "./testing/index.js";
import { LogMember } from "./testing/log-member.js";

const TIMEOUT = 60_000;
const USERS = `authorization {
  users = [
    { user: gateway, password: secret }
    { user: reader, password: secret, permissions: { publish: { deny: "*.log.*" } } }
  ]
}
no_auth_user: gateway`;

describe.skipIf(isWithoutNatsServer())("refusals without an answer", { timeout: TIMEOUT }, () => {
  let cluster: NatsCluster;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1, extra: USERS });
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  async function start(
    { onTestFinished }: TestContext,
    stream: string,
    user: string,
  ): Promise<LogGateway> {
    const access = { servers: cluster.urls(), name: "test", user, password: "secret" };
    const connection = await connectToAny({ ...access, user: "gateway" });
    await createStream(connection, { stream, replicas: 1 });
    await connection.close();
    const gateway = await LogGateway.start({ ...access, stream });
    onTestFinished(() => gateway.close());
    return gateway;
  }

  test.concurrent("no right to publish: in the status, and a warning every 10 s", async (context) => {
    const { expect } = context;
    const gateway = await start(context, "rights", "reader");
    void gateway.publish("refused");
    const text = /permissions violation for publish to "rights\.log\.[0-9a-f]+"/i;
    await expect
      .poll(() => gateway.log.status().refusal?.description, { timeout: TIMEOUT })
      .toMatch(text);
    const warnings = () => gateway.lines.filter((line) => text.test(line));
    await expect.poll(warnings, POLL).toHaveLength(2);
    expect(warnings()[0]).toMatch(/^a batch of this gateway has waited for the log for 10 s: /);
    expect(warnings()[1]).toMatch(/^a batch of this gateway has waited for the log for 20 s: /);
    expect(gateway.log.status().waitedMs).toBeGreaterThanOrEqual(20_000);
  });

  test.concurrent("a core without the right to publish: it never leads, and its log says why every 10 s", async (context) => {
    const { expect } = context;
    const access = { servers: cluster.urls(), name: "test", user: "reader", password: "secret" };
    const connection = await connectToAny({ ...access, user: "gateway" });
    await createStream(connection, { stream: "core-rights", replicas: 1 });
    await connection.close();
    const member = await LogMember.start({ ...access, stream: "core-rights", rank: 0 });
    context.onTestFinished(() => member.log.close());
    const text =
      /^no message of the log for [12]0 s: .*permissions violation for publish to "core-rights.log.core"/i;
    const warnings = () => member.lines.filter((line) => text.test(line));
    await expect.poll(warnings, POLL).toHaveLength(2);
    expect(member.log.status()).toMatchObject({ leads: false });
  });

  test.concurrent("the stream is deleted: in the status, and after 10 s the log stops", async (context) => {
    const { expect } = context;
    const gateway = await start(context, "deleted", "gateway");
    expect(await gateway.publish("stored")).toBe(true);
    await cluster.withManager((manager) => manager.streams.delete("deleted"));
    void gateway.publish("refused");
    await expect
      .poll(() => gateway.log.status().refusal, { timeout: TIMEOUT })
      .toEqual({ code: 503, description: "no leader of the stream answers" });
    await expect
      .poll(() => gateway.stopped, { timeout: TIMEOUT })
      .toMatchObject({
        code: "no_stream",
        message:
          "stream deleted has been missing for 10 s; this gateway applied up to sequence 1: stop " +
          "all gateways and run `perpgate cluster reseed`",
      });
  });
});
