/**
 * Plain requests without Fastify, whose request, reply, hooks and logger cost as much as matching an order.
 *
 * A plain order or read (`plain-requests.ts`) is served from Node's request and response. It runs the same
 * handler, and its response has the same headers, error shape, metrics and log line as the route's; a test
 * compares the two. All other requests, and all requests while the server drains, go to Fastify.
 *
 * Token and declared length are checked before the body is read.
 */

import type { IncomingMessage } from "node:http";
import { ApiError, POSITION_HEADER, SIGNATURE_HEADER } from "@perpgate/protocol/core";
import type { FastifyBaseLogger } from "fastify";
import { chargeOperation } from "../limits/charge-operation.js";
import { type Handler, requireLiveSession } from "../operations/handler.js";
import { ExchangeClient } from "./client.js";
import type { ClientAddressOf } from "./client-address.js";
import type { GatewayContext } from "./context.js";
import type { AllowedOrigins } from "./cors.js";
import type { Exchange } from "./http-connection.js";
import { EMPTY_BODY, type JsonBody, jsonBodyOf } from "./json-body.js";
import type { RequestMetrics } from "./metrics.js";
import { type PlainRequest, PlainRequests } from "./plain-requests.js";
import { saneRequestId } from "./request-id.js";
import type { RequestLog } from "./request-log.js";
import { countRead, resultText } from "./routes.js";

interface LeanOptions {
  readonly handlers: readonly Handler[];
  readonly context: GatewayContext;
  readonly metrics: RequestMetrics;
  readonly log: FastifyBaseLogger;
  readonly requestLog: RequestLog;
  readonly addressOf: ClientAddressOf;
  readonly origins: AllowedOrigins;
}

export class LeanRequests {
  private readonly plain: PlainRequests;
  private isOpen = true;

  constructor(private readonly options: LeanOptions) {
    this.plain = new PlainRequests(options.handlers);
  }

  /** From now on every request goes to Fastify, which refuses it with `stopped`. */
  close(): void {
    this.isOpen = false;
  }

  /** Serves the request and returns true, or leaves it untouched and returns false. */
  serve(exchange: Exchange): boolean {
    const found = this.isOpen ? this.plain.find(exchange.request) : undefined;
    if (found === undefined) return false;
    new LeanExchange(exchange, found, this.options, () => !this.isOpen).run();
    return true;
  }
}

class LeanExchange extends ExchangeClient {
  private readonly request: IncomingMessage;
  private readonly id: string;
  /** Alternating names and values, as `writeHead` takes them. */
  private readonly headers: string[];

  constructor(
    protected readonly exchange: Exchange,
    private readonly asked: PlainRequest,
    private readonly options: LeanOptions,
    private readonly isDraining: () => boolean,
  ) {
    super();
    this.request = exchange.request;
    this.id = saneRequestId(this.headerOf("x-request-id"));
    this.headers = ["x-request-id", this.id, "x-content-type-options", "nosniff"];
    if (options.origins !== "*") this.headers.push("vary", "origin");
  }

  run(): void {
    const { request, exchange, header } = this;
    const { context } = this.options;
    const { operation, bounds } = this.asked.target;
    try {
      exchange.isComputed = operation.needsVenue;
      this.refuseOverlong();
      const isPublic = operation.access === "public";
      const account = isPublic ? undefined : requireLiveSession(exchange.token, context);
      chargeOperation(context.budgets, exchange, operation, account, header);
    } catch (error) {
      this.refuse(error);
      return;
    }
    if (operation.method === "GET") {
      this.call(() => EMPTY_BODY);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      context.budgets.noteParsed(bytes.length);
      this.call(() => jsonBodyOf(bytes, bounds));
    });
  }

  get address(): string {
    return this.options.addressOf(this.request);
  }

  readonly header = (name: string, value: string): void => {
    this.headers.push(name, value);
  };

  private refuseOverlong(): void {
    const { signedBytes: limitBytes } = this.options.context;
    const { "content-length": length } = this.request.headers;
    if (length === undefined || Number(length) <= limitBytes) return;
    throw new ApiError("body_too_large", { limitBytes });
  }

  private call(readBody: () => JsonBody): void {
    const { asked, options, exchange } = this;
    const { handler, operation } = asked.target;
    let answer: Promise<unknown>;
    try {
      if (this.isDraining()) throw new ApiError("stopped", {});
      const body = readBody();
      const call = {
        params: asked.params,
        query: asked.query,
        body: body.value,
        bodyBytes: body.bytes,
        bearerToken: exchange.token,
        signature: this.headerOf(SIGNATURE_HEADER),
        client: this,
      };
      countRead(operation, call, options.context);
      answer = handler.run(call, options.context);
    } catch (error) {
      this.refuse(error);
      return;
    }
    answer.then(
      (result) => this.succeed(result),
      (error: unknown) => this.refuse(error),
    );
  }

  private succeed(result: unknown): void {
    const { operation, serialize } = this.asked.target;
    let text: string;
    try {
      text = resultText(result, serialize);
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.write(operation.success.status, text);
  }

  private refuse(error: unknown): void {
    if (!(error instanceof ApiError)) {
      this.options.log.error({ requestId: this.id, err: error }, "unexpected failure");
    }
    const refusal = error instanceof ApiError ? error : new ApiError("internal_error", {});
    this.options.metrics.refusals.onHttp(refusal);
    this.write(refusal.status, JSON.stringify(refusal.toBody(this.id)));
  }

  private write(status: number, text: string): void {
    const { options, headers } = this;
    const { response } = this.exchange;
    if (response.destroyed) {
      options.metrics.onAborted();
      return;
    }
    headers.push("content-type", "application/json; charset=utf-8");
    headers.push("content-length", String(Buffer.byteLength(text)));
    const { edge } = options.context;
    if (edge !== undefined) headers.push(POSITION_HEADER, String(edge.position));
    if (this.isDraining()) headers.push("connection", "close");
    response.writeHead(status, headers);
    response.end(text);
    const elapsedMs = this.elapsedMs();
    const { target, path } = this.asked;
    const { method } = target.operation;
    options.metrics.onAnswered(target.route, method, status, elapsedMs);
    options.requestLog.write({ requestId: this.id, method, path, status, elapsedMs });
  }

  private headerOf(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : undefined;
  }
}
