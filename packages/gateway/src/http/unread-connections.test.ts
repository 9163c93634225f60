import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { handleOf, UnreadConnections } from "./unread-connections.js";

const TIMEOUT_MS = 10_000;
const MEGABYTE = 1_000_000;
const WAIT = { timeout: 30_000, interval: 5 };

/** Both ends of connections, the server's tracked; time passes when the test says so. */
async function run(bytesPerAddress = Number.POSITIVE_INFINITY) {
  let nowMs = 0;
  let closed = 0;
  const unread = new UnreadConnections({
    timeoutMs: TIMEOUT_MS,
    bytesPerAddress,
    onClosed: () => closed++,
    monotonic: () => nowMs,
  });
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const open = async (from: string | undefined): Promise<{ peer: Socket; socket: Socket }> => {
    const accepted = once(server, "connection");
    const peer = connect(port, "127.0.0.1").pause();
    peer.on("error", () => undefined);
    const [socket]: Socket[] = await accepted;
    if (socket === undefined) throw new Error("no connection");
    socket.on("error", () => undefined);
    unread.add(socket, from);
    onTestFinished(() => {
      peer.destroy();
      socket.destroy();
    });
    return { peer, socket };
  };
  const after = async (ms: number): Promise<number> => {
    nowMs += ms;
    await unread.check();
    return closed;
  };
  return { unread, open, after };
}

/** Resolves once the peer's kernel takes no more. */
async function stuck(socket: Socket): Promise<void> {
  let before = -1;
  await vi.waitUntil(
    () => {
      const now = handleOf(socket)?.writeQueueSize ?? 0;
      const isStuck = now === before;
      before = now;
      return isStuck;
    },
    { ...WAIT, interval: 100 },
  );
}

test("a peer that reads nothing: closed after the time without progress, with a reset", async () => {
  const { open, after } = await run();
  const { socket, peer } = await open("a");
  socket.write(Buffer.alloc(16 * MEGABYTE));
  expect(await after(TIMEOUT_MS - 1)).toBe(0);
  // Until the peer's kernel takes no more.
  while ((await after(TIMEOUT_MS)) === 0);
  expect(socket.destroyed).toBe(true);
  const reset = once(peer, "error");
  peer.resume();
  expect(await reset).toMatchObject([{ code: "ECONNRESET" }]);
});

test.runIf(process.platform === "linux")(
  "what the kernel alone holds: closed like what this process holds",
  async () => {
    const { open, after } = await run();
    const { socket } = await open("a");
    // In small pieces: the kernel's buffer grows with what it is given.
    for (let i = 0; i < 60 && socket.writableLength === 0; i++) {
      socket.write(Buffer.alloc(16_384));
      await new Promise(setImmediate);
    }
    await vi.waitUntil(() => socket.writableLength === 0, WAIT);
    expect(await after(TIMEOUT_MS - 1)).toBe(0);
    while ((await after(TIMEOUT_MS)) === 0);
    expect(socket.destroyed).toBe(true);
  },
);

test("a peer that reads: stays, and one that rested before it was sent much stays too", async () => {
  const { open, after } = await run();
  const [reader, rested] = [await open("a"), await open("a")];
  let read = 0;
  reader.peer.on("data", (bytes: Buffer) => {
    read += bytes.length;
  });
  reader.peer.resume();
  for (let i = 1; i <= 5; i++) {
    reader.socket.write(Buffer.alloc(MEGABYTE));
    await vi.waitUntil(() => read === i * MEGABYTE, WAIT);
    expect(await after(TIMEOUT_MS)).toBe(0);
  }
  rested.socket.write(Buffer.alloc(16 * MEGABYTE));
  expect(await after(1)).toBe(0);
});

test("more unsent than an address may have: the connection that is stuck longest is closed", async () => {
  const { open, after } = await run(24 * MEGABYTE);
  const [first, second, other] = [await open("a"), await open("a"), await open("b")];
  first.socket.write(Buffer.alloc(16 * MEGABYTE));
  await stuck(first.socket);
  await after(0);
  second.socket.write(Buffer.alloc(16 * MEGABYTE));
  other.socket.write(Buffer.alloc(16 * MEGABYTE));
  expect(await after(100)).toBe(1);
  expect([first, second, other].map(({ socket }) => socket.destroyed)).toEqual([
    true,
    false,
    false,
  ]);
});

test("a proxy: the bound of an address does not count for it", async () => {
  const { open, after } = await run(MEGABYTE);
  const { socket } = await open(undefined);
  socket.write(Buffer.alloc(16 * MEGABYTE));
  await after(0);
  expect(await after(100)).toBe(0);
});

test("a socket that was ended: destroyed immediately if little is unsent, otherwise once it is read", async () => {
  const { unread, open, after } = await run();
  unread.start();
  onTestFinished(() => unread.stop());
  const [short, long] = [await open("a"), await open("a")];
  unread.destroyWhenRead(short.socket);
  expect(short.socket.destroyed).toBe(true);
  long.socket.end(Buffer.alloc(16 * MEGABYTE));
  unread.destroyWhenRead(long.socket);
  await after(1);
  expect(long.socket.destroyed).toBe(false);
  long.peer.resume();
  await once(long.peer, "end");
  await after(1);
  expect(long.socket.destroyed).toBe(true);
});
