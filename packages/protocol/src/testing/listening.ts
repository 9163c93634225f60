import { once } from "node:events";
import type { Server } from "node:net";

/** The port of a server that listens from now on, to this machine alone. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
