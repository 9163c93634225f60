/**
 * A server that accepts every connection and discards what it reads: what an attack costs the
 * machine when nobody works on it.
 */
import { createServer } from "node:net";

const server = createServer({ allowHalfOpen: false, noDelay: true }, (socket) => {
  socket.on("error", () => undefined);
  socket.resume();
});
// The process that started this one is gone.
process.once("disconnect", () => process.exit());
server.listen({ port: 0, host: "127.0.0.1", backlog: 511 }, () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
});
