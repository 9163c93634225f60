/** `POST /v1/orders` with a plain JSON body of known length. */

import type { IncomingMessage, ServerResponse } from "node:http";
import fastJson from "fast-json-stringify";
import { placeOrder } from "../../operations/place-order.js";
import { type JsonBody, jsonBodyOf } from "../json-body.js";
import { Exchange, type LaneOptions, laneOperation } from "./exchange.js";

/** By the schema, as the framework does it: what the schema does not name never leaves. */
const PLACE_ORDER = laneOperation(placeOrder, fastJson(placeOrder.success.schema));
const NOTHING: Readonly<Record<string, never>> = {};

export function isPlainOrder(
  { method, url, headers }: IncomingMessage,
  { limits }: LaneOptions,
): boolean {
  if (method !== "POST" || url !== PLACE_ORDER.path) return false;
  const length = Number(headers["content-length"]);
  return (
    length > 0 &&
    length <= limits.bodyBytes &&
    headers["content-type"] === "application/json" &&
    headers.expect === undefined
  );
}

export function serveOrder(
  request: IncomingMessage,
  response: ServerResponse,
  options: LaneOptions,
): void {
  const exchange = new Exchange(request, response, options, PLACE_ORDER);
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    let body: JsonBody;
    try {
      body = jsonBodyOf(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    } catch (error) {
      exchange.refuse(error);
      return;
    }
    const { value, bytes } = body;
    exchange.answer({ params: NOTHING, query: NOTHING, body: value, bodyBytes: bytes });
  });
}
