/**
 * `/docs`: the OpenAPI document as a page, served from this process alone.
 *
 * The content security policy allows no other host, so the page works without a network and tells
 * nobody that it was opened.
 */

import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";

const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "object-src 'none'; base-uri 'self'; frame-ancestors 'none'";

export async function serveDocs(
  app: FastifyInstance,
  document: Readonly<Record<string, unknown>>,
): Promise<void> {
  // The plugin's own types stop at OpenAPI 3.0, so it gets a frame and is handed the document later.
  await app.register(swagger, {
    mode: "static",
    specification: {
      document: { openapi: "3.1.0", info: { title: "Perpgate", version: "" }, paths: {} },
    },
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: POLICY,
    theme: { title: "Perpgate API" },
    uiConfig: { validatorUrl: null, deepLinking: true },
    transformSpecification: () => structuredClone(document),
  });
}
