/** Credentials, on one server that asks for them. */

import { POLL, until } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStream } from "./init.js";
import { connectToAny } from "./link.js";
import { isWithoutNatsServer, LogMember, NatsCluster } from "./testing/index.js";

const STREAM = "venue";

describe.skipIf(isWithoutNatsServer())("access to the servers", () => {
  let cluster: NatsCluster;

  const users = (password: string) => `authorization { user: gateway, password: ${password} }`;
  const member = (access: object) =>
    LogMember.start({ servers: cluster.urls(), name: "test", stream: STREAM, rank: 0, ...access });

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1, extra: users("secret") });
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  test("user and password: a log is created and written", async () => {
    const access = { user: "gateway", password: "secret" };
    const connection = await connectToAny({ servers: cluster.urls(), name: "test", ...access });
    await createStream(connection, { stream: STREAM, replicas: 1 });
    await connection.close();
    const core = await member(access);
    await core.written("with credentials");
    expect(core.lines[0]).toBe(
      "stream venue: it has 1 replica(s): fewer than 3 do not survive a lost server",
    );
    await core.log.close();
  });

  test("wrong or no credentials: refused without waiting, and said", async () => {
    const servers = cluster.urls();
    const text = /^no NATS server accepts a connection: nats:.*: Authorization Violation$/i;
    for (const wrong of [{}, { user: "gateway", password: "guess" }, { token: "guess" }]) {
      await expect(connectToAny({ servers, name: "test", ...wrong })).rejects.toThrow(text);
      await expect(member(wrong)).rejects.toThrow(text);
    }
  });

  test("a password changed under a core: the warning names the server's refusal", async () => {
    const [server] = cluster.servers;
    const core = await member({ user: "gateway", password: "secret" });
    expect(core.log.status().connectionProblem).toBe("");
    await server?.kill();
    server?.start({ extra: users("changed") });
    core.submit("without the password");
    const refusal = `${server?.url}: Authorization Violation`;
    await expect.poll(() => core.log.status().connectionProblem, POLL).toMatch(refusal);
    const warning = "no message of the log for 10 s: no server is connected";
    await expect.poll(() => core.lines, POLL).toContain(`${warning}: ${refusal}`);
    await server?.kill();
    server?.start();
    await until(() => core.acknowledged.has("without the password"));
    expect(core.log.status().connectionProblem).toBe("");
    await core.log.close();
  });
});
