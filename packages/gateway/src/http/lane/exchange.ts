/**
 * One request past the framework and its answer: the operation's own answer, with the headers, the
 * error shape, the metrics and the log line that the framework's way has.
 */

import { Refusal } from "@perpgate/protocol";
import type { FastifyBaseLogger } from "fastify";
import type { ClientAddressOf } from "../../ws/client-address.js";
import { bearerTokenOf } from "../bearer-token.js";
import { roundedMs } from "../client.js";
import type { GatewayContext } from "../context.js";
import type { AllowedOrigins } from "../cors.js";
import type { HttpLimits } from "../limits.js";
import type { RequestMetrics } from "../metrics.js";
import type { Operation, RawCall, TimedClient } from "../operation.js";
import { saneRequestId } from "../request-id.js";
import { requestLevel } from "../request-level.js";
import { routePathOf } from "../routes.js";
import type { Wire } from "./wire.js";

export interface LaneOptions {
  readonly context: GatewayContext;
  readonly limits: HttpLimits;
  readonly metrics: RequestMetrics;
  readonly log: FastifyBaseLogger;
  readonly addressOf: ClientAddressOf;
  readonly origins: AllowedOrigins;
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
  private readonly startedAtMs: number;
  private readonly id: string;
  /** Names and values by turns, as Node writes them. */
  private readonly headers: string[];

  constructor(
    private readonly wire: Wire,
    private readonly options: LaneOptions,
    private readonly of: LaneOperation,
  ) {
    this.startedAtMs = wire.startedAtMs;
    this.id = saneRequestId(wire.offeredId);
    this.headers = ["x-request-id", this.id, "x-content-type-options", "nosniff"];
    if (options.origins !== "*") this.headers.push("vary", "origin");
  }

  get address(): string {
    return this.wire.address;
  }

  get isForwarded(): boolean {
    return this.wire.isForwarded;
  }

  readonly header = (name: string, value: string): void => {
    this.headers.push(name, value);
  };

  elapsedMs(): number {
    return roundedMs(performance.now() - this.startedAtMs);
  }

  /** Asks the operation and writes what it answers. */
  answer({ params, query, body, bodyBytes }: CallParts): void {
    const { authorization, signature } = this.wire;
    const call: RawCall = {
      params,
      query,
      body,
      bodyBytes,
      bearerToken: bearerTokenOf(authorization),
      signature,
      client: this,
    };
    this.of.operation.answer(call, this.options.context).then(
      (answer) => this.succeed(answer),
      (error: unknown) => this.refuse(error),
    );
  }

  private succeed(answer: unknown): void {
    const { operation, write } = this.of;
    let text: string;
    try {
      text = write(answer);
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.write(operation.success.status, text);
  }

  refuse(error: unknown): void {
    if (!(error instanceof Refusal)) {
      this.options.log.error({ requestId: this.id, err: error }, "unexpected failure");
    }
    const refusal = error instanceof Refusal ? error : new Refusal("internal_error", {});
    this.write(refusal.status, JSON.stringify(refusal.toBody(this.id)));
  }

  private write(status: number, text: string): void {
    const { wire, options, headers } = this;
    if (wire.isGone) {
      options.metrics.onAborted();
      return;
    }
    const { operation, path: route } = this.of;
    const { method } = operation;
    const { path } = wire;
    headers.push("content-type", "application/json; charset=utf-8");
    wire.send(status, headers, text);
    const elapsedMs = this.elapsedMs();
    options.metrics.onAnswered(route, method, status, elapsedMs);
    const line = { requestId: this.id, method, path, status, elapsedMs };
    options.log[requestLevel(status)](line, "request");
  }
}
