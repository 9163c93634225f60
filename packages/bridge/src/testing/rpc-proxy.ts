/** A proxy between an attestor and a node that counts requests and misbehaves on demand. */

import { createServer, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type Behaviour = "honest" | "down" | "hanging" | "nonsense";
/** Whether a request with these calls never gets a response. */
export type Hangs = (calls: readonly Call[]) => boolean;
/** Replaces a node's result. */
export type Lie = (call: Call, result: unknown) => unknown;
/** Whether a call gets an error instead of a result. */
export type Fails = (call: Call) => boolean;

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const INTERNAL_ERROR = { code: -32_603, message: "internal error" };

export class RpcProxy {
  behaviour: Behaviour = "honest";
  lie: Lie = (_, result) => result;
  hangs: Hangs = () => false;
  fails: Fails = () => false;
  /** The same, and the node never gets the call. */
  refuses: Fails = () => false;
  /** A longer request is refused with status 429. */
  maxCalls = Number.POSITIVE_INFINITY;
  /** Further requests, until `forget`, are refused with status 429. */
  maxRequests = Number.POSITIVE_INFINITY;
  /** Results of a response; once they are longer, the calls that remain get an error, as of geth. */
  maxResultBytes = Number.POSITIVE_INFINITY;
  requests = 0;
  readonly calls: Call[] = [];
  private readonly held = new Set<ServerResponse>();
  private readonly server: Server;
  url = "";

  private constructor(private readonly upstream: string) {
    this.server = createServer((request, response) => {
      void json(request).then((body) => {
        const calls = listOf(body, isRequest).map((call) => ({ params: [], ...call }));
        return this.answer(calls, response);
      });
    });
  }

  static async start(upstream: string): Promise<RpcProxy> {
    const proxy = new RpcProxy(upstream);
    await new Promise<void>((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    const address = proxy.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    proxy.url = `http://127.0.0.1:${address.port}/key-in-the-path`;
    return proxy;
  }

  async stop(): Promise<void> {
    for (const response of this.held) response.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  forget(): void {
    this.requests = 0;
    this.calls.length = 0;
  }

  private async answer(calls: readonly Call[], response: ServerResponse): Promise<void> {
    this.requests++;
    this.calls.push(...calls);
    if (this.behaviour === "hanging" || this.hangs(calls)) {
      this.held.add(response);
      return;
    }
    if (this.behaviour === "down") {
      response.writeHead(503).end("out of order");
      return;
    }
    if (calls.length > this.maxCalls || this.requests > this.maxRequests) {
      response.writeHead(429).end("too many requests");
      return;
    }
    response.setHeader("content-type", "application/json");
    if (this.behaviour === "nonsense") {
      response.end(JSON.stringify({ hello: "world" }));
      return;
    }
    const answers = await this.ask(calls.filter((call) => !this.refuses(call))).catch(() => null);
    if (answers === null) {
      // The node has closed an idle connection as it was used again.
      response.writeHead(502).end("the node is away");
      return;
    }
    const byId = new Map(calls.map((call) => [call.id, call]));
    let resultBytes = 0;
    const spoilt = answers.map((answer): Answer => {
      const { id } = answer;
      const call = byId.get(id);
      if (call === undefined || answer.result === undefined) return answer;
      if (this.fails(call)) return { id, error: INTERNAL_ERROR };
      if (resultBytes > this.maxResultBytes) {
        return { id, error: { code: -32_003, message: "response too large" } };
      }
      const result = this.lie(call, answer.result);
      resultBytes += JSON.stringify(result).length;
      return { ...answer, result };
    });
    const refused = calls.filter(this.refuses).map(({ id }) => ({ id, error: INTERNAL_ERROR }));
    response.end(JSON.stringify([...spoilt, ...refused]));
  }

  private async ask(calls: readonly Call[]): Promise<readonly Answer[]> {
    if (calls.length === 0) return [];
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(calls);
    const honest = await fetch(this.upstream, { method: "POST", headers, body });
    return listOf(await honest.json(), isAnswer);
  }
}

/** Throws on anything but a list of these. */
export function listOf<T>(value: unknown, isOne: (entry: unknown) => entry is T): readonly T[] {
  if (!Array.isArray(value) || !value.every(isOne)) throw new TypeError("not a batch");
  return value;
}

export function isCall(value: unknown): value is Call {
  return isRequest(value) && "params" in value;
}

/** Some calls have no parameters. */
function isRequest(value: unknown): value is Pick<Call, "id" | "method"> & Partial<Call> {
  return isAnswer(value) && "method" in value;
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === "object" && value !== null && "id" in value;
}
