/** Clients that reset their connection before this process has accepted it. */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { ask, runGateway } from "../testing/running-gateway.js";
import type { TrustedProxies } from "./client-address.js";

/** Connects, writes and resets; argv: port, text. The kernel completes all of it without this process. */
const CLIENT = `
  const [, port, text] = process.argv;
  const socket = require("node:net").connect(Number(port), "127.0.0.1", () => {
    socket.write(text, () => socket.resetAndDestroy());
  });
`;

const BODY = JSON.stringify({ message: "m", signature: "s", sessionKey: "ab".repeat(32) });
const REQUESTS = [
  "GET /v1/markets HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET /docs/ HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET /v1/markets HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.1\r\n\r\n",
  `POST /v1/auth/siwe HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
  "GET /ws/v1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
];

test.each<[string, TrustedProxies]>([
  ["no proxy", false],
  ["one hop", 1],
  ["a list of proxies", ["127.0.0.1"]],
])(
  "reset before the accept, %s: no internal error, and the next client is served",
  async (_, trustProxy) => {
    const { url, logLines } = await runGateway({ trustProxy });
    const { port } = new URL(url);
    // This process is blocked until the client has gone, so it accepts a connection without a peer.
    for (const request of REQUESTS) execFileSync(process.execPath, ["-e", CLIENT, port, request]);
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    expect(logLines.filter((line) => /unexpected failure|stack|internal/.test(line))).toEqual([]);
  },
);
