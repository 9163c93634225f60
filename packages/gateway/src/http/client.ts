/**
 * The client of one request, as Fastify knows it.
 *
 * `request.ip` is the socket's address unless a proxy is trusted; only then do forwarding headers
 * decide. That such headers are there at all is told in any case: it betrays a proxy in front.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Client, HeaderSink } from "../venue-port.js";

const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

export class RequestClient implements Client {
  readonly header: HeaderSink;

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
  ) {
    this.header = (name, value) => void reply.header(name, value);
  }

  get address(): string {
    return this.request.ip;
  }

  get isForwarded(): boolean {
    const { headers } = this.request;
    return FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  }

  /** Milliseconds since the request began to be read, to the microsecond. */
  elapsedMs(): number {
    return Math.round(this.reply.elapsedTime * 1_000) / 1_000;
  }
}
