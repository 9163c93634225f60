/**
 * One request of the lane and its answer: the operation's own answer, with the headers, the error
 * shape, the metrics and the log line that the framework's way has.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal, SIGNATURE_HEADER } from "@perpgate/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { ClientAddressOf } from "../../ws/client-address.js";
import { bearerTokenOf } from "../bearer-token.js";
import { isForwarded, roundedMs } from "../client.js";
import type { GatewayContext } from "../context.js";
import { firstByteAgoMs } from "../first-byte.js";
import type { HttpLimits } from "../limits.js";
import type { RequestMetrics } from "../metrics.js";
import type { Operation, RawCall, TimedClient } from "../operation.js";
import { requestIdOf } from "../request-id.js";
import { requestLevel } from "../request-level.js";
import { routePathOf } from "../routes.js";

export interface LaneOptions {
  readonly context: GatewayContext;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  readonly log: FastifyBaseLogger;
  readonly addressOf: ClientAddressOf;
}

/** An operation and how its answer is written out. */
export interface LaneOperation {
  readonly operation: Operation;
  readonly path: string;
  readonly write: (answer: unknown) => string;
}

export function laneOperation(operation: Operation, write: LaneOperation["write"]): LaneOperation {
  return { operation, path: routePathOf(operation), write };
}

export type CallParts = Pick<RawCall, "params" | "query" | "body" | "bodyBytes">;

export class Exchange implements TimedClient {
  private readonly startedAt: number;
  private readonly id: string;
  /** Names and values by turns, as Node writes them. */
  private readonly headers: string[];

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly options: LaneOptions,
    private readonly of: LaneOperation,
  ) {
    this.startedAt = performance.now() - firstByteAgoMs(request);
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

  /** Asks the operation and writes what it answers. */
  answer({ params, query, body, bodyBytes }: CallParts): void {
    const { headers } = this.request;
    const signature = headers[SIGNATURE_HEADER];
    const call: RawCall = {
      params,
      query,
      body,
      bodyBytes,
      bearerToken: bearerTokenOf(headers.authorization),
      signature: typeof signature === "string" ? signature : undefined,
      client: this,
    };
    const { operation, write } = this.of;
    operation.answer(call, this.options.context).then(
      (answer) => this.write(operation.success.status, write(answer)),
      (error: unknown) => this.refuse(error),
    );
  }

  refuse(error: unknown): void {
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
    const { operation, path } = this.of;
    const { method } = operation;
    const elapsedMs = this.elapsedMs();
    options.metrics.onAnswered(path, method, status, elapsedMs);
    const url = this.request.url?.split("?", 1)[0];
    const line = { requestId: this.id, method, path: url, status, elapsedMs };
    options.log[requestLevel(status)](line, "request");
  }
}
