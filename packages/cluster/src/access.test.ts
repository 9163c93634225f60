/** Credentials, on one server that asks for them. */

import { POLL } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStream } from "./init.js";
import { connectToAny } from "./link.js";
import { isWithoutNatsServer, LogGateway, NatsCluster } from "./testing/index.js";

const STREAM = "venue";

describe.skipIf(isWithoutNatsServer())("access to the servers", () => {
  let cluster: NatsCluster;

  const users = (password: string) => `authorization { user: gateway, password: ${password} }`;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1, extra: users("secret") });
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  test("user and password: a log is created and written", async () => {
    const access = { servers: cluster.urls(), name: "test", user: "gateway", password: "secret" };
    const connection = await connectToAny(access);
    await createStream(connection, { stream: STREAM, replicas: 1 });
    await connection.close();
    const gateway = await LogGateway.start({ ...access, stream: STREAM });
    expect(await gateway.publish("with credentials")).toBe(true);
    expect(gateway.lines[0]).toBe(
      "stream venue: it has 1 replica(s): fewer than 3 do not survive a lost server",
    );
    await gateway.close();
  });

  test("wrong or no credentials: refused without waiting, and said", async () => {
    const servers = cluster.urls();
    const text = /^no NATS server accepts a connection: nats:.*: Authorization Violation$/i;
    for (const wrong of [{}, { user: "gateway", password: "guess" }, { token: "guess" }]) {
      await expect(connectToAny({ servers, name: "test", ...wrong })).rejects.toThrow(text);
      await expect(LogGateway.start({ servers, stream: STREAM, ...wrong })).rejects.toThrow(text);
    }
  });

  test("a password changed under a gateway: the warning names the server's refusal", async () => {
    const [server] = cluster.servers;
    const access = { servers: cluster.urls(), name: "test", user: "gateway", password: "secret" };
    const gateway = await LogGateway.start({ ...access, stream: STREAM });
    expect(gateway.log.status().connectionProblem).toBe("");
    await server?.kill();
    server?.start({ extra: users("changed") });
    const published = gateway.publish("without the password");
    const refusal = `${server?.url}: Authorization Violation`;
    await expect.poll(() => gateway.log.status().connectionProblem, POLL).toMatch(refusal);
    const warning = "a batch of this gateway has waited for the log for 10 s";
    await expect
      .poll(() => gateway.lines, POLL)
      .toContain(`${warning}: no server is connected: ${refusal}`);
    await server?.kill();
    server?.start();
    expect(await published).toBe(true);
    expect(gateway.log.status().connectionProblem).toBe("");
    await gateway.close();
  });
});
