/** A Fastify route for each handler. */

import { SIGNATURE_HEADER } from "@perpgate/protocol/core";
import type { Operation } from "@perpgate/protocol/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chargeOperation } from "../limits/charge-operation.js";
import {
  type Handler,
  JsonText,
  PlainText,
  type RawCall,
  requireLiveSession,
} from "../operations/handler.js";
import { RequestClient } from "./client.js";
import type { GatewayContext } from "./context.js";
import { EMPTY_BODY, JsonBody, jsonBoundsOf } from "./json-body.js";
import { serializerOf } from "./serializers.js";

const JSON_TYPE = "application/json; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";

export function routeHandlers(
  app: FastifyInstance,
  handlers: readonly Handler[],
  context: GatewayContext,
): void {
  for (const { operation, run } of handlers) {
    const { status, schema } = operation.success;
    const serialize = serializerOf(schema);
    const isPublic = operation.access === "public";
    app.route({
      method: operation.method,
      url: routePathOf(operation),
      ...bodyLimitOf(operation, context),
      config: { jsonBounds: jsonBoundsOf(operation) },
      // Before the body is read: a request without a live session costs no parsing.
      onRequest: (request, reply, done) => {
        const { header } = new RequestClient(request, reply);
        try {
          const { exchange } = request;
          const account = isPublic ? undefined : requireLiveSession(exchange?.token, context);
          if (exchange !== null) {
            exchange.isComputed = operation.needsVenue;
            chargeOperation(context.budgets, exchange, operation, account, header);
          }
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        done();
      },
      handler: (request, reply) => {
        const call = rawCallOf(request, reply);
        countRead(operation, call, context);
        run(call, context)
          .then((result) => {
            // A value that does not fit the schema throws here: answered as any fault is.
            const text = resultText(result, serialize);
            void reply.code(status).type(result instanceof PlainText ? TEXT_TYPE : JSON_TYPE);
            void reply.send(text);
          })
          .catch((error: unknown) => reply.send(error));
      },
    });
  }
}

export function resultText(result: unknown, serialize: (value: unknown) => string): string {
  if (result instanceof PlainText || result instanceof JsonText) return result.text;
  return serialize(result);
}

/** The other limits need the account, or the outcome of a sign-in; they are counted later. */
export function countRead(
  { limit, signedLimit }: Operation,
  { client: { address, header }, signature }: RawCall,
  { addressLimits }: GatewayContext,
): void {
  if (limit !== "reads") return;
  if (signedLimit === undefined || signature === undefined) addressLimits.takeRead(address, header);
  else addressLimits.takeAttestor(address, header);
}

function bodyLimitOf(
  { bodyBytes }: Operation,
  { signedBytes, batchBytes }: GatewayContext,
): { bodyLimit?: number } {
  if (bodyBytes === undefined) return {};
  if (typeof bodyBytes === "number") return { bodyLimit: bodyBytes };
  return { bodyLimit: bodyBytes === "batch" ? batchBytes : signedBytes };
}

/** The path in Fastify's notation: `/v1/orders/:id`. */
export function routePathOf({ path }: Pick<Operation, "path">): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function rawCallOf(request: FastifyRequest, reply: FastifyReply): RawCall {
  const body = request.body instanceof JsonBody ? request.body : EMPTY_BODY;
  const signature = request.headers[SIGNATURE_HEADER];
  return {
    params: request.params,
    query: request.query,
    body: body.value,
    bodyBytes: body.bytes,
    bearerToken: request.exchange?.token,
    signature: typeof signature === "string" ? signature : undefined,
    client: new RequestClient(request, reply),
  };
}
