/**
 * `/docs`: the OpenAPI document in Swagger UI; `/docs/streams`: the AsyncAPI document; `/docs/guides`: the
 * guides. The content security policies allow no other host, so the pages work offline and contact no
 * third party. Pages and documents count as reads of the client's address.
 */

import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimits } from "../../limits/limits.js";
import { RequestClient } from "../client.js";
import type { Json } from "../schema-components.js";
import { guideList, guidesIn } from "./guides.js";
import { NAV_SCRIPT, NAV_STYLE, PAGE_POLICY, STYLE, STYLE_PATH } from "./shell.js";
import { streamReference } from "./stream-reference.js";

const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "object-src 'none'; base-uri 'self'; frame-ancestors 'none'";
const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";

export interface DocsOptions {
  readonly openApi: Json;
  readonly asyncApi: Json;
  /** Folder of the guides; undefined: none are served. */
  readonly guides: string | undefined;
  readonly addressLimits: AddressLimits;
}

export async function serveDocs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const { address, header } = new RequestClient(request, reply);
    options.addressLimits.takeRead(address, header);
    done();
  };
  await serveSwagger(app, options.openApi, onRequest);
  const serve = (url: string, type: string, text: () => string | Promise<string>) => {
    app.get(url, { onRequest }, async (_request, reply) => {
      reply.header("content-security-policy", PAGE_POLICY).header("cache-control", "no-cache");
      return reply.type(type).send(await text());
    });
  };
  let streams: string | undefined;
  serve("/docs/streams", HTML, () => {
    streams ??= streamReference(options.asyncApi);
    return streams;
  });
  serve(STYLE_PATH, CSS, () => STYLE);
  const guides = options.guides === undefined ? [] : await guidesIn(options.guides);
  serve("/docs/guides", HTML, () => guideList(guides));
  for (const { url, html } of guides) serve(url, HTML, html);
}

async function serveSwagger(
  app: FastifyInstance,
  document: Json,
  onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void,
): Promise<void> {
  const frame = { openapi: "3.1.0", info: { title: "Perpgate", version: "" }, paths: {} };
  // The plugin's types stop at OpenAPI 3.0, so the document is copied into an object of that type.
  Object.assign(frame, document);
  // No transformation: the plugin then caches its output, whose YAML form takes tens of milliseconds.
  await app.register(swagger, { mode: "static", specification: { document: frame } });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: POLICY,
    theme: {
      title: "Perpgate API",
      js: [{ filename: "nav.js", content: NAV_SCRIPT }],
      css: [{ filename: "nav.css", content: NAV_STYLE }],
    },
    uiConfig: { validatorUrl: null, deepLinking: true },
    uiHooks: { onRequest },
  });
}
