/** The peer of a read: Fastify, one route, an answer that was made before anyone asked. */
import { fastify } from "fastify";

const [answer = ""] = process.argv.slice(2);
const text = Buffer.from(answer, "base64").toString();
const app = fastify();
app.get("/v1/markets/:symbol/book", (_request, reply) => {
  void reply.type("application/json; charset=utf-8").send(text);
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.send?.(typeof address === "object" ? address?.port : undefined);
