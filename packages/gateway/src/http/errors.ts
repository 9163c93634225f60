/**
 * Error responses. An `ApiError` is sent as it is; errors of Fastify and Node are mapped to codes of the
 * error table; anything else is logged in full and sent as `internal_error` without details.
 *
 * Errors are serialised with `JSON.stringify`: compiled serialisers on every route doubled the start time.
 */

import { ApiError } from "@perpgate/protocol/core";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { RefusalCounts } from "../metrics/refusal-counts.js";

type SendError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

export function errorSender(refusals: RefusalCounts): SendError {
  return (error, request, reply) => {
    const apiError = apiErrorOf(error, request);
    refusals.onHttp(apiError);
    sendError(error, apiError, request, reply);
  };
}

function sendError(
  error: unknown,
  apiError: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (apiError.code === "internal_error") request.log.error({ err: error }, "unexpected failure");
  void reply
    .code(apiError.status)
    .header("x-request-id", request.id)
    .header("content-type", "application/json; charset=utf-8")
    .send(JSON.stringify(apiError.toBody(request.id)));
}

export function requestPath({ url }: FastifyRequest): string {
  return (url.split("?", 1)[0] ?? url).slice(0, 200);
}

function apiErrorOf(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  switch (codeOf(error)) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("body_too_large", { limitBytes: request.routeOptions.bodyLimit });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ApiError("unsupported_media_type", {}, { field: "content-type" });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("malformed_request", { problem: "content-length does not match" });
    case "FST_ERR_MAX_PARAM_LENGTH":
      // No symbol or id is as long.
      return new ApiError("not_found", { path: requestPath(request) });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
      return new ApiError("malformed_uri", {});
    case "ECONNRESET":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return new ApiError("malformed_request", { problem: "the body ended early" });
    default:
      // A file that does not exist or must not be served.
      return isMissingFile(error)
        ? new ApiError("not_found", { path: requestPath(request) })
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
