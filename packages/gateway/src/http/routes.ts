/** Operations to Fastify routes: raw parts of the request in, the operation's answer out. */

import { SIGNATURE_HEADER } from "@perpgate/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { GatewayContext } from "./context.js";
import { EMPTY_BODY, JsonBody } from "./json-body.js";
import type { Operation, RawCall } from "./operation.js";

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

export function routeOperations(
  app: FastifyInstance,
  operations: readonly Operation[],
  context: GatewayContext,
): void {
  for (const operation of operations) {
    const { status, schema } = operation.success;
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      schema: { response: { [status]: schema } },
      handler: async (request, reply) => {
        const answer = await operation.answer(rawCallOf(request), context);
        return reply.code(status).send(answer);
      },
    });
  }
}

function rawCallOf(request: FastifyRequest): RawCall {
  const body = request.body instanceof JsonBody ? request.body : EMPTY_BODY;
  const signature = request.headers[SIGNATURE_HEADER];
  return {
    params: request.params,
    query: request.query,
    body: body.value,
    bodyBytes: body.bytes,
    bearerToken: BEARER.exec(request.headers.authorization ?? "")?.[1],
    signature: typeof signature === "string" ? signature : undefined,
  };
}
