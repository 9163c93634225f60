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
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const compress = promisify(gzip);

/**
 * Allows the page's own files and this origin only: no inline script or style, no other host, no frame.
 * By CSP 3, `connect-src 'self'` includes `ws` and `wss` of the same host and port.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The page does not turn text into markup or script.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "content-security-policy": POLICY,
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

/** A name with a content hash, as the build gives to every file but index.html. */
const HASHED = /-[A-Za-z0-9_-]{8,}\.\w+$/;
const FOREVER = "public, max-age=31536000, immutable";
/** Below it compression saves less than its headers cost. */
const MIN_COMPRESSED_BYTES = 1_024;

interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Variant;
  readonly gzip: Variant | undefined;
}

interface Variant {
  readonly bytes: Buffer;
  readonly etag: string;
}

export async function servePage(app: FastifyInstance, folder: string): Promise<void> {
  for (const path of await filesIn(folder)) {
    const type = TYPES[path.slice(path.lastIndexOf(".") + 1)];
    // A file without a known type is not part of the page.
    if (type === undefined) continue;
    const file = await loadFile(join(folder, path), path, type);
    const url = path === "index.html" ? "/" : `/${path}`;
    app.get(url, (request, reply) => sendFile(file, request, reply));
  }
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

async function loadFile(location: string, path: string, type: string): Promise<PageFile> {
  const bytes = await readFile(location);
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
  const isText = /^(text|application)\/|svg/.test(type);
  const packed = isText && bytes.length >= MIN_COMPRESSED_BYTES ? await compress(bytes) : undefined;
  return {
    type,
    cacheControl: HASHED.test(path) ? FOREVER : "no-cache",
    plain: { bytes, etag: `"${hash}"` },
    gzip: packed === undefined ? undefined : { bytes: packed, etag: `"${hash}-gz"` },
  };
}

function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const takesGzip = acceptsGzip(request.headers["accept-encoding"]);
  const variant = takesGzip && file.gzip !== undefined ? file.gzip : file.plain;
  reply.headers(SECURITY_HEADERS);
  reply.header("cache-control", file.cacheControl).header("etag", variant.etag);
  if (file.gzip !== undefined) {
    const others = reply.getHeader("vary");
    reply.header("vary", others === undefined ? "accept-encoding" : `${others}, accept-encoding`);
  }
  if (isKnown(request.headers["if-none-match"], variant.etag)) return reply.code(304).send();
  if (variant === file.gzip) reply.header("content-encoding", "gzip");
  return reply.type(file.type).send(variant.bytes);
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  for (const part of String(header ?? "").split(",")) {
    const [name = "", quality = "q=1"] = part.split(";").map((word) => word.trim().toLowerCase());
    if (name === "gzip") return Number(quality.replace("q=", "")) > 0;
  }
  return false;
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const offered = part.trim().replace(/^W\//, "");
    return offered === "*" || offered === etag;
  });
}
