/**
 * What was refused, by error code and transport; and what a limit or a cost budget refused, by its name.
 * Requests that are refused before Fastify sees them are counted here alone.
 */

import { type ApiError, ERROR_CODES, ERROR_TABLE, type ErrorCode } from "@perpgate/protocol/core";
import { Counter, type Registry } from "prom-client";
import { increment, summedBy } from "./registered.js";

const SERVER_ERROR = 500;

export class RefusalCounts {
  private readonly http = serverErrors();
  private readonly socket = serverErrors();
  private readonly limits = new Map<string, number>();

  onHttp(error: ApiError): void {
    increment(this.http, error.code);
    this.countLimit(error);
  }

  onSocket(error: ApiError): void {
    increment(this.socket, error.code);
    this.countLimit(error);
  }

  register(registry: Registry): void {
    const transports = { http: this.http, socket: this.socket };
    new Counter({
      name: "perpgate_refusals_total",
      help: "Errors sent to clients, by their code.",
      labelNames: ["transport", "code", "status"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [transport, counts] of Object.entries(transports)) {
          for (const [code, count] of counts) {
            this.inc({ transport, code, status: ERROR_TABLE[code].status }, count);
          }
        }
      },
    });
    summedBy(
      registry,
      "perpgate_rate_limited_total",
      "Errors rate_limited, by the limit; cost: the cost budget of an address or an account.",
      "limit",
      () => this.limits,
    );
  }

  private countLimit({ code, details }: ApiError): void {
    if (code !== "rate_limited") return;
    const limit = details?.limit;
    if (typeof limit === "string") increment(this.limits, limit);
  }
}

/** From the beginning: Prometheus sees a counter rise only if it was there before. */
function serverErrors(): Map<ErrorCode, number> {
  const codes = ERROR_CODES.filter((code) => ERROR_TABLE[code].status >= SERVER_ERROR);
  return new Map(codes.map((code) => [code, 0]));
}
