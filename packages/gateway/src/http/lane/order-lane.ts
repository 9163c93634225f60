/** `POST /v1/orders` with a plain JSON body of known length. */

import type { IncomingMessage } from "node:http";
import fastJson from "fast-json-stringify";
import { placeOrder } from "../../operations/place-order.js";
import { type JsonBody, jsonBodyOf } from "../json-body.js";
import { Exchange, type LaneOptions, laneOperation } from "./exchange.js";
import type { Wire } from "./wire.js";

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

/** Answers once the body is whole. */
export function serveOrder(request: IncomingMessage, wire: Wire, options: LaneOptions): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    answerOrder(wire, options, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
}

export function answerOrder(wire: Wire, options: LaneOptions, bytes: Uint8Array): void {
  const exchange = new Exchange(wire, options, PLACE_ORDER);
  let body: JsonBody;
  try {
    body = jsonBodyOf(bytes);
  } catch (error) {
    exchange.refuse(error);
    return;
  }
  exchange.answer({ params: NOTHING, query: NOTHING, body: body.value, bodyBytes: body.bytes });
}
