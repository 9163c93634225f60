/**
 * `/docs`: the OpenAPI document as a page, served from this process alone.
 *
 * The content security policy allows no other host, so the page works without a network and tells
 * nobody that it was opened. Page and document count as reads of the client's address.
 */

import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import type { AddressLimits } from "../limits/limits.js";
import { RequestClient } from "./client.js";

const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "object-src 'none'; base-uri 'self'; frame-ancestors 'none'";

export async function serveDocs(
  app: FastifyInstance,
  document: Readonly<Record<string, unknown>>,
  addressLimits: AddressLimits,
): Promise<void> {
  const frame = { openapi: "3.1.0", info: { title: "Perpgate", version: "" }, paths: {} };
  // The plugin's own types stop at OpenAPI 3.0: what it is given is filled in behind their back.
  Object.assign(frame, document);
  // Without a transformation it keeps what it has written; as YAML that is tens of milliseconds.
  await app.register(swagger, { mode: "static", specification: { document: frame } });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: POLICY,
    theme: { title: "Perpgate API" },
    uiConfig: { validatorUrl: null, deepLinking: true },
    uiHooks: {
      onRequest: (request, reply, done) => {
        const { address, header } = new RequestClient(request, reply);
        addressLimits.takeRead(address, header);
        done();
      },
    },
  });
}
