import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to outgoing connections: one of those could take the port between this
 * look and the server that is to listen there.
 */
const LOWEST = 15_000;
const ABOVE = 32_000;
const given = new Set<number>();

/** A port of this machine on which nothing listens; no two calls of a process get the same. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, ABOVE);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    server.listen(port, "127.0.0.1");
    // Rejects with its error.
    const listens = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!listens) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
