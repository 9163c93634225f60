/** Credentials, on one server that asks for them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStream } from "./init.js";
import { connectToAny } from "./link.js";
import { isWithoutNatsServer, LogGateway, NatsCluster } from "./testing/index.js";

const STREAM = "venue";

describe.skipIf(isWithoutNatsServer())("access to the servers", () => {
  let cluster: NatsCluster;

  beforeAll(async () => {
    const extra = `authorization { user: gateway, password: secret }`;
    cluster = await NatsCluster.start({ servers: 1, extra });
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
});
