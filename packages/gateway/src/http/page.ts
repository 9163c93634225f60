/**
 * The trading page at `/`: a folder of built files, read once, answered from memory.
 *
 * In: a folder. Out: one exact route per file in it, and `/` for its index.html. Nothing of a
 * request ever becomes a path on disk, so there is nothing to traverse, and a folder that is built
 * anew while this process runs does not pull files away from under an open page. Any other path is
 * answered as before, in the shape of an error.
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
 * The page's own files and this origin, nothing else: no inline script or style, no other host, no
 * frame around it. `connect-src 'self'` covers the streams too: by CSP 3 it takes in `ws` and `wss`
 * of the same host and port.
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
  // Text never becomes markup or script: the page uses none of the calls that would do it.
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

/** A name that carries a hash of its content, as the build gives to everything but index.html. */
const HASHED = /-[A-Za-z0-9_-]{8,}\.\w+$/;
const FOREVER = "public, max-age=31536000, immutable";
/** Below it the headers weigh more than what compression saves. */
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
    // What no browser would be told the type of is not part of a page.
    if (type === undefined) continue;
    const file = await loadFile(join(folder, path), path, type);
    const url = path === "index.html" ? "/" : `/${path}`;
    app.get(url, (request, reply) => answer(file, request, reply));
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

/** A link could lead out of the folder, and a name with `:` or `*` would be a pattern. */
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

function answer(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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
