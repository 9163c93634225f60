/** The files of the log's settings, replaced under a gateway whose server then wants the new ones. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectToAny, createStream } from "@perpgate/cluster";
import {
  CertificateAuthority,
  isWithoutNatsServer,
  LogMember,
  NatsCluster,
  newKeyedUser,
} from "@perpgate/cluster/testing";
import { describe, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { accessOf, type LogSettings } from "./log-access.js";

const STREAM = "venue";

interface Files {
  readonly log: Omit<LogSettings, "servers">;
  /** Replaces all files; the lines of a server that accepts what they now hold, and nothing else. */
  readonly renew: () => string;
}

/** Both sides have certificates, and verify those of the other. */
function certificates(folder: string): Files {
  const file = (name: string) => join(folder, name);
  const [ca, cert, key] = [file("ca.pem"), file("gateway.pem"), file("gateway.key")];
  const served = { cert: file("server.pem"), key: file("server.key") };
  const renew = (): string => {
    const authority = new CertificateAuthority();
    const [gateway, server] = [authority.issue(["gateway"]), authority.issue(["127.0.0.1"])];
    writeFileSync(ca, authority.cert);
    writeFileSync(cert, gateway.cert);
    writeFileSync(key, gateway.key);
    writeFileSync(served.cert, server.cert);
    writeFileSync(served.key, server.key);
    const own = `cert_file: "${served.cert}", key_file: "${served.key}"`;
    return `tls { ${own}, ca_file: "${ca}", verify: true }`;
  };
  return { log: { tls: { ca, cert, key } }, renew };
}

function credentials(folder: string): Files {
  const file = join(folder, "gateway.creds");
  const renew = (): string => {
    const { nkey, creds } = newKeyedUser();
    writeFileSync(file, creds);
    return `authorization { users: [{ nkey: ${nkey} }] }`;
  };
  return { log: { credentials: file }, renew };
}

describe.skipIf(isWithoutNatsServer())("files of the log's settings", () => {
  test.each([
    ["a renewed certificate is", certificates],
    ["renewed credentials are", credentials],
  ])("%s used at the next connection", async (_, filesIn) => {
    const { log, renew } = filesIn(temporaryFolder());
    const cluster = await NatsCluster.start({ servers: 1, extra: renew() });
    onTestFinished(() => cluster.remove());
    const access = accessOf({ servers: cluster.urls(), ...log }, "test");
    const connection = await connectToAny(access);
    await createStream(connection, { stream: STREAM, replicas: 1 });
    await connection.close();
    const member = await LogMember.start({ ...access, stream: STREAM, rank: 0 });
    onTestFinished(() => member.log.close());
    await member.written("with the first");
    const [server] = cluster.servers;
    await server?.kill();
    server?.start({ extra: renew() });
    await member.written("with the renewed");
  });
});
