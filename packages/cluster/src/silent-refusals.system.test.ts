/** What no answer of JetStream says: a missing right to publish, and a stream that is gone. */

import { POLL } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, type TestContext, test } from "vitest";
import { createStream } from "./init.js";
import { connectToAny } from "./link.js";
import { isWithoutNatsServer, LogMember, NatsCluster } from "./testing/index.js";

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
  ): Promise<LogMember> {
    const access = { servers: cluster.urls(), name: "test", user, password: "secret" };
    const connection = await connectToAny({ ...access, user: "gateway" });
    await createStream(connection, { stream, replicas: 1 });
    await connection.close();
    const member = await LogMember.start({ ...access, stream, rank: 0 });
    onTestFinished(() => member.log.close());
    return member;
  }

  test.concurrent("a core without the right to publish: it never leads, and its log says why every 10 s", async (context) => {
    const { expect } = context;
    const member = await start(context, "core-rights", "reader");
    const text =
      /^no message of the log for [12]0 s: .*permissions violation for publish to "core-rights.log.core"/i;
    const warnings = () => member.lines.filter((line) => text.test(line));
    await expect.poll(warnings, POLL).toHaveLength(2);
    expect(member.log.status()).toMatchObject({ leads: false });
  });

  test.concurrent("the stream is deleted: in the status, and after 10 s the log stops", async (context) => {
    const { expect } = context;
    const member = await start(context, "deleted", "gateway");
    await member.written("stored");
    await cluster.withManager((manager) => manager.streams.delete("deleted"));
    member.submit("refused");
    await expect
      .poll(() => member.log.status().refusal, { timeout: TIMEOUT })
      .toBe("no leader of the stream answers");
    await expect
      .poll(() => member.stopped, { timeout: TIMEOUT })
      .toMatchObject({
        code: "no_stream",
        message: expect.stringMatching(
          /^stream deleted has been missing for 10 s; this gateway applied up to sequence \d+: stop all gateways and run `perpgate cluster reseed`$/,
        ),
      });
  });
});
