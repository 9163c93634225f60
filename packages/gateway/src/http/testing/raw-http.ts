/** HTTP by hand, for what no well-behaved client sends, and for seeing every byte of an answer. */

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

/** One byte per character, as in all requests here. */
function rawRequest(
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
  return rawPost("/v1/orders", body, headers, contentType);
}

export function rawPost(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  contentType = "application/json",
): string {
  return rawRequest(
    `POST ${path} HTTP/1.1`,
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
