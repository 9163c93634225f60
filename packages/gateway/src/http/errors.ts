/**
 * The error exit: whatever goes wrong leaves in the one shape.
 *
 * A `ApiError` is written as it is. What Fastify or Node refuses by itself is translated to a code
 * of the same table. Anything else is a fault: logged whole, answered as `internal_error` with
 * nothing of it shown. Errors are rare and small, so they are serialised plainly; compiling a
 * serialiser for them on every route doubled the time to start.
 */

import { ApiError } from "@perpgate/protocol";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalOf(error, request);
  if (refusal.code === "internal_error") request.log.error({ err: error }, "unexpected failure");
  void reply
    .code(refusal.status)
    .header("x-request-id", request.id)
    .header("content-type", "application/json; charset=utf-8")
    .send(JSON.stringify(refusal.toBody(request.id)));
}

export function pathOf({ url }: FastifyRequest): string {
  return (url.split("?", 1)[0] ?? url).slice(0, 200);
}

function refusalOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  switch (codeOf(error)) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("body_too_large", { limitBytes: request.routeOptions.bodyLimit });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ApiError("unsupported_media_type", {}, { field: "content-type" });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("malformed_request", { problem: "content-length does not match" });
    case "FST_ERR_MAX_PARAM_LENGTH":
      // Longer than any symbol or id there is.
      return new ApiError("not_found", { path: pathOf(request) });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
      return new ApiError("malformed_uri", {});
    case "ECONNRESET":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return new ApiError("malformed_request", { problem: "the body ended early" });
    default:
      // Serving a file that is not there, or not to be had, is the client's mistake.
      return isMissingFile(error)
        ? new ApiError("not_found", { path: pathOf(request) })
        : new ApiError("internal_error", {});
  }
}

function isMissingFile(error: unknown): boolean {
  if (!(error instanceof Error) || !("statusCode" in error)) return false;
  return error.statusCode === 403 || error.statusCode === 404;
}

function codeOf(error: unknown): FastifyError["code"] | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
