/**
 * `POST /v1/orders` without Fastify, whose request, reply, hooks and logger cost as much as matching an
 * order.
 *
 * A plain order (JSON of known length, no `Origin`, no `Expect`) is served from Node's request and
 * response. It runs the same handler, and its response has the same headers, error shape, metrics and log
 * line as the route's; a test compares the two. All other requests, and all requests while the server
 * drains, go to Fastify.
 *
 * Token and declared length are checked before the body is read.
 */

import type { IncomingMessage } from "node:http";
import { ApiError, POSITION_HEADER, SIGNATURE_HEADER } from "@perpgate/protocol/core";
import { type Operation, placeOrder } from "@perpgate/protocol/operations";
import type { FastifyBaseLogger } from "fastify";
import type { BearerToken } from "../auth/session-token.js";
import { chargeOperation, type OverBudget } from "../limits/charge-operation.js";
import { requireLiveSession, type TimedClient } from "../operations/handler.js";
import { placeOrderHandler } from "../operations/orders.js";
import { isForwarded, roundedMs } from "./client.js";
import type { ClientAddressOf } from "./client-address.js";
import type { GatewayContext } from "./context.js";
import type { AllowedOrigins } from "./cors.js";
import type { Exchange } from "./http-connection.js";
import { jsonBodyOf, jsonBoundsOf } from "./json-body.js";
import type { RequestMetrics } from "./metrics.js";
import { saneRequestId } from "./request-id.js";
import type { RequestLog } from "./request-log.js";
import { serializerOf } from "./serializers.js";

export interface LeanOrderOptions {
  readonly context: GatewayContext;
  readonly metrics: RequestMetrics;
  readonly log: FastifyBaseLogger;
  readonly requestLog: RequestLog;
  readonly addressOf: ClientAddressOf;
  readonly origins: AllowedOrigins;
}

const { path: PATH, method: METHOD, success }: Operation = placeOrder;
const stringify = serializerOf(success.schema);
const BOUNDS = jsonBoundsOf(placeOrder);
const NOTHING: Readonly<Record<string, never>> = {};

export class LeanOrders {
  private isOpen = true;

  constructor(private readonly options: LeanOrderOptions) {}

  /** From now on every request goes to Fastify, which refuses it with `stopped`. */
  close(): void {
    this.isOpen = false;
  }

  /** Serves the request and returns true, or leaves it untouched and returns false. */
  serve(exchange: Exchange): boolean {
    if (!this.isOpen || !isPlainOrder(exchange.request)) return false;
    new LeanExchange(exchange, this.options, () => !this.isOpen).run();
    return true;
  }
}

function isPlainOrder({ method, url, headers }: IncomingMessage): boolean {
  return (
    url === PATH &&
    method === METHOD &&
    headers["content-type"] === "application/json" &&
    Number(headers["content-length"]) > 0 &&
    headers.host !== undefined &&
    headers.origin === undefined &&
    headers.expect === undefined &&
    headers["transfer-encoding"] === undefined
  );
}

class LeanExchange implements TimedClient {
  private readonly request: IncomingMessage;
  private readonly id: string;
  /** Alternating names and values, as `writeHead` takes them. */
  private readonly headers: string[];

  constructor(
    private readonly exchange: Exchange,
    private readonly options: LeanOrderOptions,
    private readonly isDraining: () => boolean,
  ) {
    this.request = exchange.request;
    this.id = saneRequestId(this.headerOf("x-request-id"));
    this.headers = ["x-request-id", this.id, "x-content-type-options", "nosniff"];
    if (options.origins !== "*") this.headers.push("vary", "origin");
  }

  run(): void {
    const { request, exchange, header } = this;
    const { context } = this.options;
    const { token } = exchange;
    try {
      exchange.isComputed = true;
      this.refuseOverlong();
      const account = requireLiveSession(token, context);
      chargeOperation(context.budgets, exchange, placeOrder, account, header);
    } catch (error) {
      this.refuse(error);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      this.place(token, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
  }

  get address(): string {
    return this.options.addressOf(this.request);
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

  get asExit(): Exchange["asExit"] {
    return this.exchange.asExit;
  }

  readonly header = (name: string, value: string): void => {
    this.headers.push(name, value);
  };

  elapsedMs(): number {
    return roundedMs(performance.now() - this.exchange.startedAtMs);
  }

  private refuseOverlong(): void {
    const { signedBytes: limitBytes } = this.options.context;
    if (Number(this.request.headers["content-length"]) <= limitBytes) return;
    throw new ApiError("body_too_large", { limitBytes });
  }

  private place(bearerToken: BearerToken | undefined, bytes: Uint8Array): void {
    let body: unknown;
    try {
      if (this.isDraining()) throw new ApiError("stopped", {});
      this.options.context.budgets.noteParsed(bytes.length);
      body = jsonBodyOf(bytes, BOUNDS).value;
    } catch (error) {
      this.refuse(error);
      return;
    }
    const call = {
      params: NOTHING,
      query: NOTHING,
      body,
      bodyBytes: bytes,
      bearerToken,
      signature: this.headerOf(SIGNATURE_HEADER),
      client: this,
    };
    placeOrderHandler.run(call, this.options.context).then(
      (answer) => this.succeed(answer),
      (error: unknown) => this.refuse(error),
    );
  }

  private succeed(answer: unknown): void {
    let text: string;
    try {
      text = stringify(answer);
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.write(success.status, text);
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
    options.metrics.onAnswered(PATH, METHOD, status, elapsedMs);
    options.requestLog.write({ requestId: this.id, method: METHOD, path: PATH, status, elapsedMs });
  }

  private headerOf(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : undefined;
  }
}
