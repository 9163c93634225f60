/** HTTP by hand, for what no well-behaved client sends, and for seeing every byte of an answer. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunningGateway } from "../../testing/running-gateway.js";

export interface RawAnswer {
  readonly status: number;
  /** As received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export type Dial = RunningGateway["dial"];

/** A connection for requests one after the other. */
export class RawClient {
  private received: Buffer = Buffer.alloc(0);
  private waiting: (() => void)[] = [];
  isClosed = false;

  private constructor(readonly socket: Awaited<ReturnType<Dial>>) {
    // Otherwise a second small piece waits for the first one's acknowledgement.
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on("close", () => {
      this.isClosed = true;
      this.wake();
    });
  }

  static async open(dial: Dial): Promise<RawClient> {
    return new RawClient(await dial());
  }

  async ask(request: string): Promise<RawAnswer> {
    this.socket.write(request, "latin1");
    return this.nextAnswer();
  }

  async nextAnswer(): Promise<RawAnswer> {
    for (;;) {
      const first = answerAt(this.received, 0);
      if (first !== undefined) {
        this.received = this.received.subarray(first.end);
        return first.answer;
      }
      if (this.isClosed) throw new Error(`closed after: ${this.received.toString("latin1")}`);
      await this.somethingNew();
    }
  }

  private somethingNew(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves when the server has closed, with what it sent and was not read before. */
  async closed(): Promise<string> {
    while (!this.isClosed) {
      await this.somethingNew();
    }
    return this.received.toString("latin1");
  }
}

const SETTLING_REQUESTS = 30;

/**
 * Runs conversations concurrently, each sent in its pieces; returns all responses of each until the
 * server closes. A conversation that has not ended after a while is sent `filler`.
 */
export async function exchangeAll(
  dial: Dial,
  conversations: readonly (readonly string[])[],
  filler: string,
): Promise<RawAnswer[][]> {
  const clients = await Promise.all(
    conversations.map(async (pieces) => {
      const client = await RawClient.open(dial);
      await sendPieces(client, pieces);
      return client;
    }),
  );
  await settle(dial);
  for (const { isClosed, socket } of clients) if (!isClosed) socket.write(filler, "latin1");
  return Promise.all(
    clients.map(async (client) => allAnswers(Buffer.from(await client.closed(), "latin1"))),
  );
}

/** Requests that are sent last and therefore answered last. */
async function settle(dial: Dial): Promise<void> {
  const client = await RawClient.open(dial);
  for (let i = 0; i < SETTLING_REQUESTS; i++) await client.ask(rawGet("/healthz"));
  client.socket.destroy();
}

/** The server is in this process: after two turns of the event loop it has read what was sent. */
async function sendPieces({ socket }: RawClient, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    await nextTurn();
    await nextTurn();
  }
}

export function allAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const next = answerAt(bytes, at);
    if (next === undefined) throw new Error(`half an answer: ${bytes.toString("latin1", at)}`);
    answers.push(next.answer);
    at = next.end;
  }
  return answers;
}

function answerAt(bytes: Buffer, from: number): { answer: RawAnswer; end: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n", from);
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.toString("latin1", from, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  const length = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1] ?? "0";
  const bodyStart = headEnd + 4;
  const end = bodyStart + Number(length);
  if (end > bytes.length) return undefined;
  return { answer: { status, headers, body: bytes.toString("utf8", bodyStart, end) }, end };
}

export function headerOf(answer: RawAnswer, name: string): string | undefined {
  return answer.headers.find(([other]) => other.toLowerCase() === name)?.[1];
}

/** An answer's length follows from the digits of its `elapsedMs`. */
const VARYING = ["Date", "content-length", "ratelimit"];

/** A response without what differs between runs. */
export function untimed({ status, headers, body }: RawAnswer): RawAnswer {
  const id = headers.find(([name]) => name === "x-request-id")?.[1];
  const plainBody = body
    .replace(/"requestId":"[^"]*"/, '"requestId":"…"')
    .replace(/"elapsedMs":[0-9.]+/, '"elapsedMs":0');
  const plainHeaders = headers.map(([name, value]): [string, string] => {
    if (VARYING.includes(name)) return [name, "…"];
    return [name, value === id ? "…" : value];
  });
  return { status, headers: plainHeaders, body: plainBody };
}

/** One byte per character, as in all requests here. */
export function rawRequest(
  line: string,
  headers: readonly (readonly [name: string, value: string])[],
  body = "",
): string {
  return `${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

export function rawOrder(
  body: string,
  headers: Readonly<Record<string, string>> = {},
  contentType = "application/json",
): string {
  return rawRequest(
    "POST /v1/orders HTTP/1.1",
    [
      ["host", "venue.test"],
      ["content-type", contentType],
      ...Object.entries(headers),
      ["content-length", String(body.length)],
    ],
    body,
  );
}

export function rawGet(path: string, headers: Readonly<Record<string, string>> = {}): string {
  return rawRequest(`GET ${path} HTTP/1.1`, [["host", "venue.test"], ...Object.entries(headers)]);
}
