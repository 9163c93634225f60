/**
 * The floor: the least that an honest gateway must do. Bare `node:http`; parses the body, hashes
 * it, verifies the signature on the libuv pool, group-commits the bytes to disk, answers. No
 * engine, no sessions, no validation, no limits.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { openJournal } from "@perpgate/journal";

const [directory = "", publicKeyPem = ""] = process.argv.slice(2);
const key = createPublicKey(Buffer.from(publicKeyPem, "base64").toString());
const journal = await openJournal({ directory });
let counter = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const order: { nonce: number } = JSON.parse(body.toString());
    const digest = createHash("sha256").update(body).digest();
    const signature = Buffer.from(String(request.headers["x-service-sig"]), "base64");
    verify(null, digest, key, signature, (error, isValid) => {
      if (error !== null || !isValid) {
        response.writeHead(401).end();
        return;
      }
      const position = ++counter;
      void journal.append({ writer: 1, counter: position }, [body]).then(() => {
        const answer = JSON.stringify({ ackNonce: String(position), nonce: order.nonce });
        response.writeHead(200, {
          "content-type": "application/json",
          "content-length": answer.length,
        });
        response.end(answer);
      });
    });
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
});
