/**
 * The error exit: whatever goes wrong leaves in the one shape.
 *
 * A `Refusal` is written as it is. What Fastify or Node refuses by itself is translated to a code
 * of the same table. Anything else is a fault: logged whole, answered as `internal_error` with
 * nothing of it shown.
 */

import { Refusal } from "@perpgate/protocol";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalOf(error, request.routeOptions.bodyLimit);
  if (refusal.code === "internal_error") request.log.error({ err: error }, "unexpected failure");
  void reply
    .code(refusal.status)
    .header("content-type", "application/json; charset=utf-8")
    .send(refusal.toBody(request.id));
}

export function refusalOf(error: unknown, bodyLimitBytes: number): Refusal {
  if (error instanceof Refusal) return error;
  switch (codeOf(error)) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Refusal("body_too_large", { limitBytes: bodyLimitBytes });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Refusal("unsupported_media_type", {}, { field: "content-type" });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Refusal("malformed_request", { problem: "content-length does not match" });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
      return new Refusal("malformed_uri", {});
    case "ECONNRESET":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return new Refusal("malformed_request", { problem: "the body ended early" });
    default:
      return new Refusal("internal_error", {});
  }
}

function codeOf(error: unknown): FastifyError["code"] | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
