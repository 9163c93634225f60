/** Operations to Fastify routes: raw parts of the request in, the operation's answer out. */

import { SIGNATURE_HEADER } from "@perpgate/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bearerTokenOf } from "./bearer-token.js";
import { RequestClient } from "./client.js";
import type { GatewayContext } from "./context.js";
import { EMPTY_BODY, JsonBody } from "./json-body.js";
import { JsonText, type Operation, type RawCall } from "./operation.js";

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
    app.route({
      method: operation.method,
      url: routePathOf(operation),
      schema: { response: { [status]: schema } },
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
