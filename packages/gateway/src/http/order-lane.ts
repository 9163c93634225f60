/**
 * The way of a plain order past the framework: `POST /v1/orders` as a program sends it.
 *
 * A framework's request, reply, hooks and logger are worth their cost for every operation but one:
 * for an order they are as much work as matching it, ten times over. So an order with a JSON body of
 * known length, from no browser, is read and answered here with the same operation, the same headers
 * and the same error shape. Whatever is the least unusual about a request (another content type, no
 * length, an `Origin`, an expectation, a server that stops) leaves it to the framework's route, and
 * a test holds the two ways' answers against each other.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal, SIGNATURE_HEADER } from "@perpgate/protocol";
import fastJson from "fast-json-stringify";
import type { FastifyBaseLogger } from "fastify";
import { placeOrder } from "../operations/place-order.js";
import type { ClientAddressOf } from "../ws/client-address.js";
import { bearerTokenOf } from "./bearer-token.js";
import { isForwarded, roundedMs } from "./client.js";
import type { GatewayContext } from "./context.js";
import { jsonBodyOf } from "./json-body.js";
import type { HttpLimits } from "./limits.js";
import type { RequestMetrics } from "./metrics.js";
import type { TimedClient } from "./operation.js";
import { requestIdOf } from "./request-id.js";

export interface OrderLaneOptions {
  readonly context: GatewayContext;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  readonly log: FastifyBaseLogger;
  readonly addressOf: ClientAddressOf;
}

/** By the schema, as the framework does it: what the schema does not name never leaves. */
const writeAcknowledgement = fastJson(placeOrder.success.schema);

const NOTHING: Readonly<Record<string, never>> = {};

export class OrderLane {
  private isOpen = true;

  constructor(private readonly options: OrderLaneOptions) {}

  /** From now on every request is the framework's. */
  close(): void {
    this.isOpen = false;
  }

  takes({ method, url, headers }: IncomingMessage): boolean {
    if (url !== placeOrder.path || method !== placeOrder.method || !this.isOpen) return false;
    const length = Number(headers["content-length"]);
    return (
      length > 0 &&
      length <= this.options.limits.bodyBytes &&
      headers["content-type"] === "application/json" &&
      headers.origin === undefined &&
      headers.expect === undefined &&
      headers.host !== undefined
    );
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    const exchange = new Exchange(request, response, this.options);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      exchange.answer(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
  }
}

/** One order and its answer. */
class Exchange implements TimedClient {
  private readonly startedAt = performance.now();
  private readonly id: string;
  /** Names and values by turns, as Node writes them. */
  private readonly headers: string[];

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly options: OrderLaneOptions,
  ) {
    this.id = requestIdOf(request);
    this.headers = ["x-request-id", this.id, "x-content-type-options", "nosniff"];
  }

  get address(): string {
    return this.options.addressOf(this.request);
  }

  get isForwarded(): boolean {
    return isForwarded(this.request.headers);
  }

  readonly header = (name: string, value: string): void => {
    this.headers.push(name, value);
  };

  elapsedMs(): number {
    return roundedMs(performance.now() - this.startedAt);
  }

  answer(bytes: Buffer): void {
    const signature = this.request.headers[SIGNATURE_HEADER];
    let body: unknown;
    try {
      body = jsonBodyOf(bytes).value;
    } catch (error) {
      this.refuse(error);
      return;
    }
    const call = {
      params: NOTHING,
      query: NOTHING,
      body,
      bodyBytes: bytes,
      bearerToken: bearerTokenOf(this.request.headers.authorization),
      signature: typeof signature === "string" ? signature : undefined,
      client: this,
    };
    placeOrder.answer(call, this.options.context).then(
      (acknowledgement) =>
        this.write(placeOrder.success.status, writeAcknowledgement(acknowledgement)),
      (error: unknown) => this.refuse(error),
    );
  }

  private refuse(error: unknown): void {
    if (!(error instanceof Refusal)) {
      this.options.log.error({ requestId: this.id, err: error }, "unexpected failure");
    }
    const refusal = error instanceof Refusal ? error : new Refusal("internal_error", {});
    this.write(refusal.status, JSON.stringify(refusal.toBody(this.id)));
  }

  private write(status: number, text: string): void {
    const { response, options, headers } = this;
    if (response.destroyed) {
      options.metrics.onAborted();
      return;
    }
    const length = String(Buffer.byteLength(text));
    headers.push("content-type", "application/json; charset=utf-8", "content-length", length);
    response.writeHead(status, headers);
    response.end(text);
    const { method, path } = placeOrder;
    const elapsedMs = this.elapsedMs();
    options.metrics.onAnswered(path, method, status, elapsedMs);
    options.log.info({ requestId: this.id, method, path, status, elapsedMs }, "request");
  }
}
