/**
 * The client of one request, as Fastify knows it.
 *
 * `request.ip` is the socket's address unless a proxy is trusted; only then do forwarding headers
 * decide. That such headers are there at all is told in any case: it betrays a proxy in front.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OverBudget } from "../limits/charge-operation.js";
import type { TimedClient } from "../operations/handler.js";
import type { HeaderSink } from "../request.js";
import type { Exchange } from "./http-connection.js";

declare module "fastify" {
  interface FastifyRequest {
    /** What the connection knows of the request; set before any other hook runs. */
    exchange: Exchange | null;
  }
}

const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
];

/** Whether some proxy says that it passed the request on. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
}

/** To the microsecond: more digits than a clock has only cost bytes. */
export function roundedMs(elapsedMs: number): number {
  return Math.round(elapsedMs * 1_000) / 1_000;
}

export class RequestClient implements TimedClient {
  readonly header: HeaderSink;
  readonly address: string;

  constructor(
    private readonly request: FastifyRequest,
    reply: FastifyReply,
  ) {
    this.address = request.ip;
    this.header = (name, value) => void reply.header(name, value);
  }

  get isForwarded(): boolean {
    return isForwarded(this.request.headers);
  }

  get key(): string {
    return this.exchange.key;
  }

  get account(): number | undefined {
    return this.exchange.account;
  }

  get overBudget(): OverBudget | undefined {
    return this.exchange.overBudget;
  }

  /** Milliseconds since the first byte of the request was read. */
  elapsedMs(): number {
    return roundedMs(performance.now() - this.exchange.startedAtMs);
  }

  private get exchange(): Exchange {
    const { exchange } = this.request;
    if (exchange === null) throw new Error("the request came without its exchange");
    return exchange;
  }
}
