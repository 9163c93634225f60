/** Operations to Fastify routes: raw parts of the request in, the operation's answer out. */

import { SIGNATURE_HEADER } from "@perpgate/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chargeOperation } from "../limits/charge-operation.js";
import { bearerTokenOf } from "./bearer-token.js";
import { RequestClient } from "./client.js";
import type { GatewayContext } from "./context.js";
import { EMPTY_BODY, JsonBody } from "./json-body.js";
import { JsonText, type Operation, type RawCall, requireLiveSession } from "./operation.js";

const JSON_TYPE = "application/json; charset=utf-8";

export function routeOperations(
  app: FastifyInstance,
  operations: readonly Operation[],
  context: GatewayContext,
): void {
  for (const operation of operations) {
    const { status, schema } = operation.success;
    // Other limits need to know the account, or how a sign-in ends: they are counted further in.
    const isLimitedRead = operation.limit === "reads";
    const isPublic = operation.access === "public";
    app.route({
      method: operation.method,
      url: routePathOf(operation),
      schema: { response: { [status]: schema } },
      ...bodyLimitOf(operation, context.signedBytes),
      // Before the body is read: a request without a live session costs no parsing.
      onRequest: (request, reply, done) => {
        const { header } = new RequestClient(request, reply);
        try {
          const token = bearerTokenOf(request.headers.authorization);
          const account = isPublic ? undefined : requireLiveSession(token, header, context);
          const { exchange } = request;
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
        if (isLimitedRead) context.addressLimits.takeRead(call.client.address, call.client.header);
        operation.answer(call, context).then(
          (answer) => {
            void reply.code(status);
            if (answer instanceof JsonText) void reply.type(JSON_TYPE).send(answer.text);
            else void reply.send(answer);
          },
          (error: unknown) => reply.send(error),
        );
      },
    });
  }
}

/** What is signed goes into the log whole, so it has the bound of the log. */
function bodyLimitOf({ id, bodyBytes }: Operation, signedBytes: number): { bodyLimit?: number } {
  if (id === "placeOrder" || id === "rotateSession") return { bodyLimit: signedBytes };
  return bodyBytes === undefined ? {} : { bodyLimit: bodyBytes };
}

/** The operation's path as Fastify writes it. */
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
    bearerToken: bearerTokenOf(request.headers.authorization),
    signature: typeof signature === "string" ? signature : undefined,
    client: new RequestClient(request, reply),
  };
}
