/**
 * JSON request bodies: the parsed value and its exact bytes, which an order's signature covers. Only
 * `application/json` in valid UTF-8 is accepted; an empty body counts as none.
 */

import {
  ApiError,
  type JsonBounds,
  parseStrictJson,
  REQUEST_BOUNDS,
} from "@perpgate/protocol/core";
import type { Operation } from "@perpgate/protocol/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CostBudgets } from "../limits/cost-budget.js";

const NO_BYTES = new Uint8Array(0);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A batch has at most 50 operations, each of up to 14 keys and two exits of up to 2. */
const BATCH_PARTS = 2_560;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Of the route's body. */
    jsonBounds?: JsonBounds;
  }
}

/** What the body of an operation may have; an order may have no key that its schema does not name. */
export function jsonBoundsOf({ body, bodyBytes }: Operation): JsonBounds {
  const parts = bodyBytes === "batch" ? BATCH_PARTS : REQUEST_BOUNDS.parts;
  const { additionalProperties, properties }: OrderSchema = body;
  const bounds = { ...REQUEST_BOUNDS, parts };
  if (additionalProperties !== false || properties === undefined) return bounds;
  return { ...bounds, keys: new Set(Object.keys(properties)) };
}

interface OrderSchema {
  readonly additionalProperties?: unknown;
  readonly properties?: object;
}

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
    (request: FastifyRequest, bytes: Buffer, done) => {
      let body: JsonBody;
      try {
        budgets.noteParsed(bytes.length);
        const { jsonBounds } = request.routeOptions.config;
        body = bytes.length === 0 ? EMPTY_BODY : jsonBodyOf(bytes, jsonBounds);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      // Outside the try block: the rest of the request runs inside this call.
      done(null, body);
    },
  );
}

export function jsonBodyOf(bytes: Uint8Array, bounds?: JsonBounds): JsonBody {
  return new JsonBody(bytes, parseStrictJson(decodeUtf8(bytes), bounds));
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ApiError("malformed_json", { problem: "it is not UTF-8" });
  }
}
