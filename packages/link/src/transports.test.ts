/** What every transport does alike. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FrameRefused } from "./codec.js";
import type { Frame } from "./frames.js";
import { KnownAddresses } from "./known-addresses.js";
import { newFolder } from "./testing/socket-links.js";
import { newVenueCertificates } from "./testing/venue-certificates.js";
import { connectToRemoteCore, listenForRemoteEdges, secureContextOf } from "./tls-socket.js";
import { type LinkTransport, memoryTransport, type Receiver } from "./transport.js";
import { type Connect, connectToCore, listenForEdges } from "./unix-socket.js";

interface Ends {
  readonly connectEdge: Connect;
  readonly connectCore: Connect;
}

async function unixSocket(): Promise<Ends> {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-link-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { promise, resolve } = newPromise<Connect>();
  const listener = await listenForEdges(folder, resolve);
  onTestFinished(() => listener.close());
  const connectEdge = await connectToCore(folder);
  const connectCore = await promise;
  return { connectEdge, connectCore };
}

async function tlsSocket(): Promise<Ends> {
  const { identityOf } = newVenueCertificates();
  const { promise, resolve } = newPromise<Connect>();
  const { port, close } = await listenForRemoteEdges(
    { host: "127.0.0.1", port: 0 },
    identityOf("server"),
    new KnownAddresses(newFolder(), (error) => expect.unreachable(String(error))),
    { edge: resolve, refused: (_, reason) => expect.unreachable(reason) },
  );
  onTestFinished(close);
  const context = secureContextOf(identityOf("client"));
  const connectEdge = await connectToRemoteCore({ host: "127.0.0.1", port }, context);
  return { connectEdge, connectCore: await promise };
}

function newPromise<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const TRANSPORTS: Readonly<Record<string, () => Ends | Promise<Ends>>> = {
  memory: () => memoryTransport(),
  "coded memory": () => memoryTransport({ isCoded: true }),
  "Unix socket": unixSocket,
  "TLS socket": tlsSocket,
};
const CHECKED = ["coded memory", "Unix socket", "TLS socket"];

/** Writes down what arrives; `until` resolves with it once it is as long. */
class Recorder implements Receiver {
  readonly frames: Frame[] = [];
  readonly ends: (Error | undefined)[] = [];
  onFrame: () => void = () => undefined;
  private readonly waiting = new Set<() => void>();

  receive(frame: Frame): void {
    this.frames.push(frame);
    this.onFrame();
    this.changed();
  }

  ended(problem: Error | undefined): void {
    this.ends.push(problem);
    this.changed();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private changed(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}

async function connected(name: string) {
  const { connectEdge, connectCore } = await TRANSPORTS[name]!();
  const [edge, core] = [new Recorder(), new Recorder()];
  const ends: { edge: LinkTransport; core: LinkTransport } = {
    core: connectCore(core),
    edge: connectEdge(edge),
  };
  onTestFinished(() => {
    ends.edge.end();
    ends.core.end();
  });
  return { ...ends, received: { edge, core } };
}

const STAMP = { epoch: 3, position: 2 ** 40 };
const NOTES = { counted: undefined, rows: 0, work: 0, isReplay: false, historyBefore: 0 };

function ask(id: number): Frame {
  const once = { isAgain: false, terms: undefined };
  return { kind: "request", name: "tlogAcks", id, ...STAMP, ...once, body: { block: id } };
}

function answer(id: number, bytes: number): Frame {
  const body = { file: Buffer.alloc(bytes, id) };
  return { kind: "answer", name: "tlogAcks", id, ...STAMP, notes: NOTES, body };
}

test.each(Object.keys(TRANSPORTS))(
  "%s: frames of both sides arrive as sent, in order",
  async (name) => {
    const { edge, core, received } = await connected(name);
    const asked = Array.from({ length: 500 }, (_, id) => ask(id));
    const answered = Array.from({ length: 500 }, (_, id) => answer(id, id % 50));
    for (const frame of asked) edge.send(frame);
    for (const frame of answered) core.send(frame);
    await received.core.until(() => received.core.frames.length >= asked.length);
    await received.edge.until(() => received.edge.frames.length >= answered.length);
    expect(received.core.frames).toEqual(asked);
    expect(received.edge.frames).toEqual(answered);
  },
);

test.each(Object.keys(TRANSPORTS))(
  "%s: nothing arrives within the call that sent it",
  async (name) => {
    const { edge, core, received } = await connected(name);
    const order: string[] = [];
    received.core.onFrame = () => {
      order.push("core begins");
      core.send(answer(1, 1));
      order.push("core ends");
    };
    received.edge.onFrame = () => order.push("edge");
    edge.send(ask(1));
    order.push("sent");
    await received.edge.until(() => received.edge.frames.length > 0);
    expect(order).toEqual(["sent", "core begins", "core ends", "edge"]);
  },
);

test.each(Object.keys(TRANSPORTS))("%s: a long frame between short ones", async (name) => {
  const { core, received } = await connected(name);
  const frames = [answer(1, 1), answer(2, 20_000_000), answer(3, 1)];
  for (const frame of frames) core.send(frame);
  await received.edge.until(() => received.edge.frames.length >= frames.length);
  const sizes = received.edge.frames.map((frame) =>
    "file" in frame.body ? frame.body.file?.length : undefined,
  );
  expect(sizes).toEqual([1, 20_000_000, 1]);
});

test.each(
  Object.keys(TRANSPORTS).flatMap(
    (name) =>
      [
        [name, "edge"],
        [name, "core"],
      ] as const,
  ),
)(
  "%s: the %s ends: what it sent before arrives, both ends are over, once, without a problem",
  async (name, side) => {
    const { edge, core, received } = await connected(name);
    const [own, other] = side === "edge" ? [edge, core] : [core, edge];
    const [ours, theirs] =
      side === "edge" ? [received.edge, received.core] : [received.core, received.edge];
    const frames = Array.from({ length: 300 }, (_, id) =>
      side === "edge" ? ask(id) : answer(id, 9),
    );
    for (const frame of frames) own.send(frame);
    own.end();
    own.send(frames[0]!);
    own.end();
    await theirs.until(() => theirs.ends.length > 0);
    await ours.until(() => ours.ends.length > 0);
    expect(theirs.frames).toEqual(frames);
    other.send(side === "edge" ? answer(1, 1) : ask(1));
    other.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect([ours.ends, theirs.ends]).toEqual([[undefined], [undefined]]);
    expect(ours.frames).toEqual([]);
  },
);

test.each(CHECKED)(
  "%s: a frame that the other side would refuse: throws, and the link goes on",
  async (name) => {
    const { edge, received } = await connected(name);
    expect(() => edge.send({ ...ask(7), epoch: -1 })).toThrow(FrameRefused);
    edge.send(ask(1));
    await received.core.until(() => received.core.frames.length > 0);
    expect(received.core.frames).toEqual([ask(1)]);
  },
);
