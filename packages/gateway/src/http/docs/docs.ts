/**
 * `/docs`: the OpenAPI document in Swagger UI; `/docs/streams`: the AsyncAPI document; `/docs/guides`: the
 * guides. The content security policies allow no other host, so the pages work offline and contact no
 * third party. All of it counts as reads of the client's address.
 */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { getOpenApi } from "@perpgate/protocol/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimits } from "../../limits/limits.js";
import { RequestClient } from "../client.js";
import type { Json } from "../schema-components.js";
import { guideList, guidesIn } from "./guides.js";
import { docsPage, NAV_STYLE, PAGE_POLICY, STYLE, STYLE_PATH } from "./shell.js";
import { streamReference } from "./stream-reference.js";

/** Where its script and style are served. */
const UI_FOLDER = "/docs/static";

const REST_PAGE = docsPage(
  "REST",
  `<div id="swagger-ui"></div>
<script src="${UI_FOLDER}/swagger-ui-bundle.js"></script>
<script src="${UI_FOLDER}/start.js"></script>`,
  [`${UI_FOLDER}/nav.css`, `${UI_FOLDER}/swagger-ui.css`],
);

/** Without a validator, which would be another host. */
const UI_START = `SwaggerUIBundle(${JSON.stringify({
  url: getOpenApi.path,
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
})});
`;

/** Swagger UI styles elements itself and runs from files of this process. */
const UI_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "object-src 'none'; base-uri 'self'; frame-ancestors 'none'";
const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
/** Over a megabyte, and the same for every request of a release. */
const UI_FILES = [
  ["swagger-ui-bundle.js", SCRIPT],
  ["swagger-ui.css", CSS],
] as const;
const require = createRequire(import.meta.url);

type Text = string | Buffer;

interface DocsOptions {
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
  const serve = (
    url: string,
    type: string,
    text: () => Text | Promise<Text>,
    { policy = PAGE_POLICY, cache = "no-cache" } = {},
  ) => {
    app.get(url, { onRequest }, async (_request, reply) => {
      reply.header("content-security-policy", policy).header("cache-control", cache);
      return reply.type(type).send(await text());
    });
  };
  for (const url of ["/docs", "/docs/"]) serve(url, HTML, () => REST_PAGE, { policy: UI_POLICY });
  serve(`${UI_FOLDER}/nav.css`, CSS, () => NAV_STYLE);
  serve(`${UI_FOLDER}/start.js`, SCRIPT, () => UI_START);
  for (const [name, type] of UI_FILES) {
    serve(`${UI_FOLDER}/${name}`, type, uiFile(name), { cache: "public, max-age=3600" });
  }
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

/** A file of Swagger UI, read when it is first asked for. */
function uiFile(name: string): () => Promise<Buffer> {
  let bytes: Buffer | undefined;
  return async () => {
    // The plugin for Fastify carries the files; loading its code took a tenth of a gateway's start.
    bytes ??= await readFile(require.resolve(`@fastify/swagger-ui/static/${name}`));
    return bytes;
  };
}
