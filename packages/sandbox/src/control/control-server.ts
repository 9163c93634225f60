/**
 * The control API of a sandbox: JSON over HTTP on a loopback address, described by `/openapi.json`.
 *
 * It has no token, so it answers only what a local program sends, and the page that the sandbox serves
 * itself: another `Host` than this machine's, as after a rebinding of DNS, and requests of any other web
 * page are refused.
 */

import Fastify, { type FastifyInstance } from "fastify";
import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import type { SandboxOptions } from "../options.js";
import { SandboxVenue } from "../sandbox.js";
import { ControlledSandbox } from "./controlled-sandbox.js";
import { CONTROL_OPERATIONS } from "./operations.js";

const BODY_BYTES = 65_536;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Starts a venue; `stop` ends it. */
export function startVenue(options: SandboxOptions = {}): Promise<SandboxVenue> {
  return SandboxVenue.start(options, startControl);
}

/** `port` 0: any free one. */
async function startControl(venue: SandboxVenue, port: number) {
  const sandbox = new ControlledSandbox(venue);
  const app = Fastify({
    // A mistyped option must not become the default, nor null a number.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
    schemaErrorFormatter: (errors) => new RangeError(errors.map(problemOf).join(", ")),
  });
  refuseOthers(app, venue);
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    // Of a sandbox that is given what it cannot do; anything else is its own fault.
    const isMistake = error instanceof RangeError || error.name === "PerpgateError";
    const status = error.statusCode ?? (isMistake ? 400 : 500);
    return reply.code(status).send({ message: error.message });
  });
  const document = openApiDocument();
  app.get("/openapi.json", async () => document);
  for (const { method, path, body, bodyBytes = BODY_BYTES, run } of CONTROL_OPERATIONS) {
    const schema = method === "POST" ? { body } : {};
    app.route({
      method,
      url: path,
      schema,
      bodyLimit: bodyBytes,
      handler: (request) => run(sandbox, isRecord(request.body) ? request.body : {}),
    });
  }
  const url = await app.listen({ host: "127.0.0.1", port });
  return {
    url,
    close: async () => {
      await app.close();
    },
  };
}

function refuseOthers(app: FastifyInstance, venue: SandboxVenue): void {
  app.addHook("onRequest", async ({ headers }, reply) => {
    const { host = "", origin } = headers;
    const isLocal = LOOPBACK.has(host.replace(/:\d+$/, ""));
    if (!isLocal || (origin !== undefined && !isPageOf(venue, origin))) {
      return reply
        .code(403)
        .send({ message: "the control API answers programs of this machine only" });
    }
    if (origin === undefined) return;
    reply.header("access-control-allow-origin", origin).header("vary", "origin");
  });
  app.options("/*", async (_request, reply) =>
    reply.header("access-control-allow-headers", "content-type").code(204).send(),
  );
}

/** Whether a request comes from the trading page of this sandbox. */
function isPageOf(venue: SandboxVenue, origin: string): boolean {
  const { port } = new URL(venue.url);
  return [...LOOPBACK].some((host) => origin === `http://${host}:${port}`);
}

/** Names the field that the message of the validator leaves out. */
function problemOf({ instancePath, params, message }: FastifySchemaValidationError): string {
  const { additionalProperty } = params;
  const what =
    typeof additionalProperty === "string" ? `has no field ${additionalProperty}` : message;
  return `body${instancePath} ${what}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function openApiDocument(): object {
  const paths = Object.fromEntries(
    CONTROL_OPERATIONS.map(({ method, path, summary, body, answer }) => {
      const content = (schema: object) => ({ "application/json": { schema } });
      const success = { description: "Done.", content: content(answer) };
      const requestBody = { required: true, content: content(body) };
      const operation = {
        operationId: path.slice(1).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
        summary,
        ...(method === "POST" ? { requestBody } : {}),
        responses: {
          "200": success,
          default: {
            description: "Refused: why.",
            content: content({
              type: "object",
              required: ["message"],
              properties: { message: { type: "string" } },
            }),
          },
        },
      };
      return [path, { [method.toLowerCase()]: operation }];
    }),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "Perpgate sandbox",
      version: "1",
      description: "Time, prices and traders of a venue for tests.",
    },
    paths,
  };
}
