/**
 * `/docs`: the OpenAPI document as a page. The content security policy allows no other host, so the page
 * works offline and contacts no third party. Page and document count as reads of the client's address.
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
  // The plugin's types stop at OpenAPI 3.0, so the document is copied into an object of that type.
  Object.assign(frame, document);
  // No transformation: the plugin then caches its output, whose YAML form takes tens of milliseconds.
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
