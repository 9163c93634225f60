/**
 * The client of one request. `request.ip` is the socket's address unless a trusted proxy forwards
 * another. `isForwarded` reports forwarding headers of any sender: they reveal a proxy in front.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OverBudget } from "../limits/charge-operation.js";
import type { TimedClient } from "../operations/handler.js";
import type { HeaderSink } from "../request.js";
import type { Exchange } from "./http-connection.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set before any other hook runs. */
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

/** Whether the request carries headers of a proxy. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
}

/** Rounded to the microsecond, the resolution of the clock. */
export function roundedMs(elapsedMs: number): number {
  return Math.round(elapsedMs * 1_000) / 1_000;
}

/** Reads what the sender of an exchange pays with when it is asked for: it is set while the exchange is served. */
export abstract class ExchangeClient implements TimedClient {
  abstract readonly address: string;
  abstract readonly header: HeaderSink;
  protected abstract readonly exchange: Exchange;

  get isForwarded(): boolean {
    return isForwarded(this.exchange.request.headers);
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

  get asExit(): Exchange["asExit"] {
    return this.exchange.asExit;
  }

  /** Milliseconds since the first byte of the request was read. */
  elapsedMs(): number {
    return roundedMs(performance.now() - this.exchange.startedAtMs);
  }
}

export class RequestClient extends ExchangeClient {
  readonly header: HeaderSink;
  readonly address: string;

  constructor(
    private readonly request: FastifyRequest,
    reply: FastifyReply,
  ) {
    super();
    this.address = request.ip;
    this.header = (name, value) => void reply.header(name, value);
  }

  protected get exchange(): Exchange {
    const { exchange } = this.request;
    if (exchange === null) throw new Error("request.exchange is not set");
    return exchange;
  }
}
