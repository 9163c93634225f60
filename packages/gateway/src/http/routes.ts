/** Operations to Fastify routes: raw parts of the request in, the operation's answer out. */

import { SIGNATURE_HEADER } from "@perpgate/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bearerTokenOf } from "./bearer-token.js";
import { RequestClient } from "./client.js";
import type { GatewayContext } from "./context.js";
import { EMPTY_BODY, JsonBody } from "./json-body.js";
import type { Operation, RawCall } from "./operation.js";

export function routeOperations(
  app: FastifyInstance,
  operations: readonly Operation[],
  context: GatewayContext,
): void {
  for (const operation of operations) {
    const { status, schema } = operation.success;
    const isLimitedRead = isPublicRead(operation);
    app.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      schema: { response: { [status]: schema } },
      handler: async (request, reply) => {
        const call = rawCallOf(request, reply);
        if (isLimitedRead) context.addressLimits.takeRead(call.client.address, call.client.header);
        const answer = await operation.answer(call, context);
        return reply.code(status).send(answer);
      },
    });
  }
}

/** What anyone may read is counted by address; the service's own paths are for its operator. */
function isPublicRead({ access, method, tag }: Operation): boolean {
  return access === "public" && method === "GET" && tag !== "service";
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
