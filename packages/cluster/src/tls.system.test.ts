/** TLS to one server: by its address and by its name, and where the server has none. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectToAny, type ServerAccess } from "./link.js";
import { CertificateAuthority, isWithoutNatsServer, NatsCluster } from "./testing/index.js";

const SECRET = "a password that must not be sent in clear";
const USER = `authorization { user: gateway, password: "${SECRET}" }`;

describe.skipIf(isWithoutNatsServer())("TLS to a server", () => {
  const authority = new CertificateAuthority();
  let folder = "";
  let cluster: NatsCluster;
  let port = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tls-"));
    writeFileSync(join(folder, "ca.pem"), authority.cert);
    cluster = await NatsCluster.start({ servers: 1, extra: USER });
    port = new URL(cluster.urls()[0] ?? "").port;
  });

  afterAll(async () => {
    await cluster?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Restarts the server with a certificate for these names; without any name, without TLS. */
  async function serve(...names: readonly string[]): Promise<void> {
    const [server] = cluster.servers;
    await server?.kill();
    const { cert, key } = authority.issue(names);
    const [certFile, keyFile] = [join(folder, "server.pem"), join(folder, "server.key")];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`;
    server?.start({ extra: names.length === 0 ? USER : `${USER}\n${tls}` });
    await cluster.ready();
  }

  function accessTo(server: string): ServerAccess {
    const caFile = join(folder, "ca.pem");
    return { servers: [server], name: "test", user: "gateway", password: SECRET, tls: { caFile } };
  }

  async function isEncrypted(server: string): Promise<boolean> {
    const connection = await connectToAny(accessTo(server));
    const { tls_required: isRequired } = connection.info ?? {};
    await connection.close();
    return isRequired === true;
  }

  test("servers named by their IP address, and by name; a certificate of another address is refused", async () => {
    const [address, name] = [`tls://127.0.0.1:${port}`, `tls://localhost:${port}`];
    await serve("127.0.0.1");
    expect(await isEncrypted(address)).toBe(true);
    expect(await isEncrypted(`nats://127.0.0.1:${port}`)).toBe(true);
    await expect(isEncrypted(name)).rejects.toThrow("does not match certificate's altnames");
    await serve("127.0.0.2", "localhost");
    expect(await isEncrypted(name)).toBe(true);
    await expect(isEncrypted(address)).rejects.toThrow("does not match certificate's altnames");
  });

  /** Passes everything on to the server, and keeps what clients send. */
  async function tap(): Promise<{ readonly port: number; readonly sent: Buffer[] }> {
    const sent: Buffer[] = [];
    const listener = createServer((client) => {
      const server = connect(Number(port), "127.0.0.1");
      client.on("data", (chunk: Buffer) => {
        sent.push(chunk);
        server.write(chunk);
      });
      server.on("data", (chunk: Buffer) => client.write(chunk));
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        one.on("error", () => undefined);
        one.on("close", () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void listener.close());
    const address = listener.address();
    return { port: typeof address === "object" ? (address?.port ?? 0) : 0, sent };
  }

  test("tls:// at a server without TLS: refused, nothing is sent", async () => {
    await serve();
    const { port: tapped, sent } = await tap();
    const { tls: _, ...access } = accessTo(`tls://127.0.0.1:${tapped}`);
    await expect(connectToAny(access)).rejects.toThrow("server does not support 'tls'");
    expect(Buffer.concat(sent).toString()).toBe("");
    const plain = await connectToAny({ ...access, servers: [`nats://127.0.0.1:${tapped}`] });
    await plain.close();
    expect(Buffer.concat(sent).toString()).toContain(SECRET);
  });
});
