/** Cores and edges joined by sockets, and peers that do not keep to the link. */

import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { FrameDecoder, FrameEncoder } from "../codec.js";
import { CoreLink, type CoreLinkOptions } from "../core-link.js";
import { EdgeLink } from "../edge-link.js";
import { type Frame, LINK_VERSION } from "../frames.js";
import { type Connect, connectToCore, LINK_SOCKET, listenForEdges } from "../unix-socket.js";
import { handlersWith, NO_NOTICES } from "./handlers.js";

const STAMP = { epoch: 0, position: 0 };
/** Of a request that is signed, or reads, and is sent for the first time. */
export const PLAIN = { kind: "request", ...STAMP, isAgain: false, terms: undefined } as const;
export const HELLO = helloOf(LINK_VERSION);
export const PING: Frame = { kind: "notice", name: "ping", ...STAMP, body: {} };
export const FILE = { file: Buffer.alloc(100) };

export function helloOf(version: number): Frame {
  return { kind: "notice", name: "hello", ...STAMP, body: { version } };
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-link-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A core's end of a link that answers one request. */
export function newCoreLink(
  connectCore: Connect,
  options: Partial<CoreLinkOptions> = {},
): CoreLink {
  return new CoreLink(connectCore, {
    handlers: handlersWith({ tlogPolicy: () => FILE }),
    notices: NO_NOTICES,
    window: 1_000,
    isReplicated: false,
    position: () => 0,
    timeMs: () => 0,
    epoch: () => 0,
    isLeading: () => true,
    whenSettled: (callback) => callback(),
    onFault: (error) => {
      throw error;
    },
    ...options,
  });
}

/** A core, and its links in the order of their edges. */
export async function startCore(options: Partial<CoreLinkOptions> = {}, folder = newFolder()) {
  const links: CoreLink[] = [];
  const listener = await listenForEdges(folder, (connectCore) => {
    links.push(newCoreLink(connectCore, options));
  });
  onTestFinished(async () => {
    for (const link of links) link.close();
    await listener.close();
  });
  return { folder, links };
}

export async function startEdge(folder: string): Promise<EdgeLink> {
  const edge = new EdgeLink(await connectToCore(folder));
  onTestFinished(() => edge.close());
  await edge.ready;
  return edge;
}

/** A process that does not keep to the link. */
export async function startRaw(folder: string): Promise<Socket> {
  const socket = connect({ path: join(folder, LINK_SOCKET), allowHalfOpen: true });
  socket.on("error", () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

export function encoded(...frames: Frame[]): Buffer {
  const encoder = new FrameEncoder();
  for (const frame of frames) encoder.add(frame);
  return encoder.take();
}

export function asks(from: number, frames: number): Buffer {
  const encoder = new FrameEncoder();
  for (let id = from; id < from + frames; id++) {
    encoder.add({ ...PLAIN, name: "tlogPolicy", id, body: {} });
  }
  return encoder.take();
}

/** A request of any length. */
export function asksFor(id: number, order: string): Buffer {
  const body = { session: 1, params: { id: order }, query: {} };
  return encoded({ ...PLAIN, name: "getOrder", id, body });
}

/** The reason of the `bye` that a socket reads before it ends. */
export async function byeOn(socket: Socket): Promise<string | undefined> {
  const decoder = new FrameDecoder("core");
  let reason: string | undefined;
  for await (const chunk of socket) {
    decoder.push(chunk);
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
      if (frame.kind === "notice" && "reason" in frame.body) reason = frame.body.reason;
    }
  }
  return reason;
}
