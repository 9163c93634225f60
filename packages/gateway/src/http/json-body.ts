/**
 * JSON request bodies: the parsed value and its exact bytes, which an order's signature covers. Only
 * `application/json` in valid UTF-8 is accepted; an empty body counts as none.
 */

import { ApiError, parseStrictJson } from "@perpgate/protocol/core";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CostBudgets } from "../limits/cost-budget.js";

const NO_BYTES = new Uint8Array(0);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class JsonBody {
  constructor(
    readonly bytes: Uint8Array,
    readonly value: unknown,
  ) {}
}

export const EMPTY_BODY = new JsonBody(NO_BYTES, undefined);

export function readJsonBodies(app: FastifyInstance, budgets: CostBudgets): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    (_request: FastifyRequest, bytes: Buffer, done) => {
      let body: JsonBody;
      try {
        budgets.noteParsed(bytes.length);
        body = bytes.length === 0 ? EMPTY_BODY : jsonBodyOf(bytes);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      // Outside the try block: the rest of the request runs inside this call.
      done(null, body);
    },
  );
}

export function jsonBodyOf(bytes: Uint8Array): JsonBody {
  return new JsonBody(bytes, parseStrictJson(decodeUtf8(bytes)));
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ApiError("malformed_json", { problem: "it is not UTF-8" });
  }
}
