/** Peers that fall silent: their link ends after 2 s in which this process ran. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EdgeLink } from "./edge-link.js";
import {
  byeOn,
  encoded,
  FILE,
  HELLO,
  newFolder,
  PING,
  startCore,
  startEdge,
  startRaw,
} from "./testing/socket-links.js";
import { connectToCore, LINK_SOCKET } from "./unix-socket.js";

test.each([
  ["nothing at all", Buffer.alloc(0)],
  ["hello and nothing more", encoded(HELLO)],
  ["hello and half a frame", encoded(HELLO, PING).subarray(0, -3)],
])("an edge that sends %s: its link ends after 2 s", async (_, bytes) => {
  const { folder, links } = await startCore();
  const raw = await startRaw(folder);
  const begun = performance.now();
  raw.write(bytes);
  expect(await byeOn(raw)).toBe("the edge has been silent for 2000 ms");
  expect((await links[0]!.closed).message).toBe("the edge has been silent for 2000 ms");
  expect(performance.now() - begun).toBeGreaterThan(2_000);
});

test("an edge that sends the bytes of a frame one by one, and nothing else: its link ends after 2 s", async () => {
  const { folder, links } = await startCore();
  const raw = await startRaw(folder);
  const bytes = Buffer.alloc(10_000);
  bytes.writeUInt32LE(bytes.length - 4);
  raw.write(encoded(HELLO));
  let at = 0;
  const dribble = setInterval(() => raw.write(bytes.subarray(at, ++at)), 20);
  onTestFinished(() => clearInterval(dribble));
  expect((await links[0]!.closed).message).toBe("the edge has been silent for 2000 ms");
});

test("a core that sends nothing: the edge's link ends after 2 s, and says why", async () => {
  const folder = newFolder();
  const silent = createServer().listen(join(folder, LINK_SOCKET));
  onTestFinished(() => {
    silent.close();
  });
  await new Promise((resolve) => silent.once("listening", resolve));
  const edge = new EdgeLink(await connectToCore(folder));
  await expect(edge.ready).rejects.toThrow("the core has been silent for 2000 ms");
});

test("an idle link stays; a process that does not run for 3 s loses no link", async () => {
  const { folder, links } = await startCore();
  const edge = await startEdge(folder);
  let problem: Error | undefined;
  void Promise.race([edge.closed, links[0]!.closed]).then((error) => {
    problem = error;
  });
  const pause = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(pause, 0, 0, 3_000);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(problem).toBeUndefined();
  expect(await edge.request("tlogPolicy", {})).toEqual(FILE);
});

/** An edge in a process of its own, which only greets and pings; prints what it has read when it ends. */
const EDGE_PROCESS = `
  const [path, hello, ping] = process.argv.slice(1);
  const socket = require("node:net").connect(path);
  let read = "";
  socket.on("data", (chunk) => { read += chunk.toString("latin1"); });
  socket.on("close", () => { process.stdout.write(read); process.exit(0); });
  socket.write(Buffer.from(hello, "hex"));
  setInterval(() => socket.write(Buffer.from(ping, "hex")), 200);
`;

function startProcess(folder: string): ChildProcess {
  const bytes = [HELLO, PING].map((frame) => encoded(frame).toString("hex"));
  const child = spawn(process.execPath, ["-e", EDGE_PROCESS, join(folder, LINK_SOCKET), ...bytes], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

test("an edge that is stopped for half a second keeps its link; stopped for longer it loses it, others go on, and it learns why", async () => {
  const { folder, links } = await startCore();
  const honest = await startEdge(folder);
  const child = startProcess(folder);
  await expect.poll(() => links.length, { timeout: 30_000 }).toBe(2);
  let end: string | undefined;
  void links[1]!.closed.then(({ message }) => {
    end = message;
  });
  child.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill("SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(end).toBeUndefined();
  child.kill("SIGSTOP");
  while (end === undefined) expect(await honest.request("tlogPolicy", {})).toEqual(FILE);
  expect(end).toBe("the edge has been silent for 2000 ms");
  child.kill("SIGCONT");
  const [read] = await Promise.all([once(child.stdout!, "data"), once(child, "exit")]);
  expect(String(read)).toContain("the edge has been silent for 2000 ms");
});
