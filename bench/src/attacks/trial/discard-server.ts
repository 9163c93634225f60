/** A server that accepts every connection and discards what it reads, a process. */
import { once } from "node:events";
import { createServer } from "node:net";
import { serve } from "../../harness/child.js";

const server = createServer({ allowHalfOpen: false, noDelay: true }, (socket) => {
  socket.on("error", () => undefined);
  socket.resume();
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 511 });
await once(server, "listening");
const address = server.address();

const handlers = {
  port: (): number => (typeof address === "object" && address !== null ? address.port : 0),
};
export type DiscardServer = typeof handlers;

serve(handlers);
