/**
 * The trading page at `/`: a folder of built files, read once and served from memory.
 *
 * Each file has one exact route, and index.html is at `/`. No part of a request becomes a path on disk,
 * so path traversal is impossible, and rebuilding the folder does not affect a running process.
 */

import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const compress = promisify(gzip);
const unpackBrotli = promisify(brotliDecompress);

/**
 * Allows the page's own files, this origin and the venue's other gateways only: no inline script or
 * style, no other host, no frame. By CSP 3, `connect-src 'self'` includes `ws` and `wss` of the same host
 * and port.
 */
function policyFor(gateways: readonly string[], control: string | undefined): string {
  const others = gateways.flatMap((url) => {
    const { origin } = new URL(url);
    return [origin, origin.replace(/^http/, "ws")];
  });
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...others, ...(control === undefined ? [] : [control])].join(" "),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // The page does not turn text into markup or script.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

const SECURITY_HEADERS = {
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  webmanifest: "application/manifest+json; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
};

/** The page reads the addresses of the venue's gateways from this element. */
const GATEWAYS_NAME = "perpgate-gateways";
/** And from this one that it shows a sandbox, with the address of its control API, if it has one. */
const SANDBOX_NAME = "perpgate-sandbox";

const OWN_POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/;
const OWN_POLICY_WITHIN = 1_024;

/** A name with a content hash, as the build gives to every file but index.html. */
const HASHED = /-[A-Za-z0-9_-]{8,}\.\w+$/;
const FOREVER = "public, max-age=31536000, immutable";
/** Below it compression saves less than its headers cost. */
const MIN_COMPRESSED_BYTES = 1_024;

interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Variant;
  /** By how small they are. */
  readonly packed: readonly Variant[];
}

interface Variant {
  readonly encoding: "identity" | "gzip" | "br";
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A venue for tests, and the address of what moves its time. */
export interface PageSandbox {
  readonly control: string | undefined;
}

/** Serves the folder; the page may use the other gateways of the venue, whose addresses are given. */
export async function servePage(
  app: FastifyInstance,
  folder: string,
  gateways: readonly string[] = [],
  sandbox?: PageSandbox,
): Promise<void> {
  const policy = policyFor(gateways, sandbox?.control);
  const headers = { ...SECURITY_HEADERS, "content-security-policy": policy };
  const paths = await filesIn(folder);
  for (const path of paths) {
    const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
    // A file without a known type is not part of the page.
    if (type === undefined) continue;
    const isIndex = path === "index.html";
    const bytes = await readFile(join(folder, path));
    const content = isIndex ? withAddresses(bytes, gateways, sandbox) : bytes;
    const hasBrotli = !isIndex && paths.includes(`${path}.br`);
    const brotli = hasBrotli ? await readFile(join(folder, `${path}.br`)) : undefined;
    const file = await pageFile(path, type, content, brotli);
    const own = path.endsWith(".html") ? policyIn(bytes) : undefined;
    app.get(isIndex ? "/" : `/${path}`, (request, reply) => {
      reply.headers(headers);
      if (own !== undefined) reply.header("content-security-policy", own);
      return sendFile(file, request, reply);
    });
  }
}

/** The policy that a file of the page names for itself, and that no other site may frame it. */
function policyIn(bytes: Buffer): string | undefined {
  const [, own] = OWN_POLICY.exec(bytes.subarray(0, OWN_POLICY_WITHIN).toString()) ?? [];
  return own === undefined ? undefined : `${own}; frame-ancestors 'none'`;
}

function withAddresses(
  index: Buffer,
  gateways: readonly string[],
  sandbox: PageSandbox | undefined,
): Buffer {
  const elements: string[] = [];
  if (gateways.length > 0) elements.push(element(GATEWAYS_NAME, gateways));
  if (sandbox !== undefined) elements.push(element(SANDBOX_NAME, [sandbox.control ?? ""]));
  if (elements.length === 0) return index;
  return Buffer.from(index.toString().replace("</head>", () => `${elements.join("")}</head>`));
}

function element(name: string, urls: readonly string[]): string {
  const content = urls.map((url) => encodeURI(url).replaceAll('"', "%22")).join(" ");
  return `<meta name="${name}" content="${content}" />`;
}

/** Paths relative to the folder, with `/`; hidden files are left out. */
async function filesIn(folder: string, parent = ""): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, parent), { withFileTypes: true })) {
    if (entry.name.startsWith(".")) continue;
    const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...(await filesIn(folder, path)));
    else if (isPlainName(entry)) paths.push(path);
  }
  return paths;
}

/** A link could point outside the folder, and a name with `:` or `*` would be a route pattern. */
function isPlainName(entry: Dirent): boolean {
  return entry.isFile() && /^[\w.-]+$/.test(entry.name);
}

async function pageFile(
  path: string,
  type: string,
  bytes: Buffer,
  brotli: Buffer | undefined,
): Promise<PageFile> {
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
  const isText = /^(text|application)\/|svg/.test(type);
  const packed: Variant[] = [];
  // Brotli takes seconds: the build has done it. A file that is left over from another build is not used.
  if (brotli !== undefined && bytes.equals(await unpackBrotli(brotli))) {
    packed.push({ encoding: "br", bytes: brotli, etag: `"${hash}-br"` });
  }
  if (isText && bytes.length >= MIN_COMPRESSED_BYTES) {
    packed.push({ encoding: "gzip", bytes: await compress(bytes), etag: `"${hash}-gz"` });
  }
  return {
    type,
    cacheControl: HASHED.test(path) ? FOREVER : "no-cache",
    plain: { encoding: "identity", bytes, etag: `"${hash}"` },
    packed,
  };
}

function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const variant = variantFor(request.headers["accept-encoding"], file);
  reply.header("cache-control", file.cacheControl).header("etag", variant.etag);
  if (file.packed.length > 0) {
    const others = reply.getHeader("vary");
    reply.header("vary", others === undefined ? "accept-encoding" : `${others}, accept-encoding`);
  }
  if (isKnown(request.headers["if-none-match"], variant.etag)) return reply.code(304).send();
  if (variant !== file.plain) reply.header("content-encoding", variant.encoding);
  return reply.type(file.type).send(variant.bytes);
}

/** The variant that the client prefers; the smallest of those that it likes equally. */
function variantFor(header: string | string[] | undefined, { packed, plain }: PageFile): Variant {
  const qualities = qualitiesIn(String(header ?? ""));
  const qualityOf = ({ encoding }: Variant) =>
    qualities.get(encoding) ?? (encoding === "identity" ? 0 : (qualities.get("*") ?? 0));
  let best = plain;
  for (const variant of packed) {
    if (qualityOf(variant) > qualityOf(best)) best = variant;
  }
  return best;
}

/** `Accept-Encoding`: names in lower case, with their weights. */
function qualitiesIn(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const quality = Number(weight);
    if (name !== "") qualities.set(name, quality >= 0 && quality <= 1 ? quality : 0);
  }
  return qualities;
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const offered = part.trim().replace(/^W\//, "");
    return offered === "*" || offered === etag;
  });
}
