/** Errors of the error table on the link: what a client is shown crosses as plain data. */

import { ApiError, RelayedMessage } from "@perpgate/protocol/core";
import type { Scalar } from "./kinds.js";
import type { LinkRefusal } from "./refusal-kind.js";

/** `internal_error` for anything that is no `ApiError`: the sender of the request learns nothing more. */
export function refusalOf(error: unknown): LinkRefusal {
  const { code, message, field, details } =
    error instanceof ApiError ? error : new ApiError("internal_error", {});
  return {
    code,
    message,
    field,
    details: details === undefined ? undefined : scalarsIn(details),
  };
}

export function errorOf({ code, message, field, details }: LinkRefusal): ApiError {
  return new ApiError(code, new RelayedMessage(message), {
    ...(field === undefined ? {} : { field }),
    ...(details === undefined ? {} : { details }),
  });
}

/** Details that are neither text nor number nor flag are no part of any error. */
function scalarsIn(details: Readonly<Record<string, unknown>>): Readonly<Record<string, Scalar>> {
  const found: Record<string, Scalar> = {};
  for (const [name, value] of Object.entries(details)) {
    if (value === null || typeof value === "string" || typeof value === "number") {
      found[name] = value;
    } else if (typeof value === "boolean") {
      found[name] = value;
    }
  }
  return found;
}
