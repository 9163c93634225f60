import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Wire } from "./wire.js";

const TOTAL_BYTES = 48 * 2 ** 20;
const CHUNK = Buffer.alloc(2 ** 16, 7);
/** More than the kernel's buffers of two connections and what may be underway. */
const MAX_HELD_BYTES = 24 * 2 ** 20;

/** Echoes what it reads; to one that sends `all` it sends everything, as fast as that is read. */
async function server(): Promise<{ port: number; sentBytes: () => number }> {
  let sentBytes = 0;
  const sendAll = (socket: Socket): void => {
    while (sentBytes < TOTAL_BYTES) {
      sentBytes += CHUNK.length;
      if (!socket.write(CHUNK)) {
        socket.once("drain", () => sendAll(socket));
        return;
      }
    }
    socket.end();
  };
  const listening = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (data.toString() === "all") sendAll(socket);
      else socket.write(data);
    });
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => void listening.close());
  const address = listening.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, sentBytes: () => sentBytes };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  onTestFinished(() => void socket.destroy());
  return socket;
}

test("latency, and a client that does not read: what waits for it is bounded, and all of it arrives", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const { port, sentBytes } = await server();
  const wire = await Wire.open(
    0,
    port,
    () => ({ ms: 4, jitter: 0 }),
    () => 0.5,
  );
  onTestFinished(() => wire.close());
  const slow = await connected(wire.port);
  slow.pause();
  slow.write("all");
  // Each of these takes the latency once, so every chunk that was read is delivered meanwhile.
  const other = await connected(wire.port);
  for (let turn = 0; turn < 50; turn++) {
    other.write("x");
    await once(other, "data");
  }
  expect(sentBytes()).toBeLessThan(MAX_HELD_BYTES);
  let received = 0;
  slow.on("data", (data) => {
    received += data.length;
  });
  slow.resume();
  await once(slow, "end");
  expect(received).toBe(TOTAL_BYTES);
  // A listener for each chunk that waits would be one that is said to leak.
  expect(warnings).toEqual([]);
});
