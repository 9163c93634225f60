/**
 * Public data as files, under `/data`: an index, and a folder for each day whose files never change
 * (`perpgate publish` makes them). They are streamed from the disk; only names of this form become a path.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "@perpgate/protocol/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimits } from "../limits/limits.js";
import { RequestClient } from "./client.js";
import { requestPath } from "./errors.js";

const DAY_FILE = /^\d{4}-\d{2}-\d{2}\/[\w-]+\.(json|csv\.gz)$/;
const JSON_TYPE = "application/json; charset=utf-8";
const FOR_EVER = "public, max-age=31536000, immutable";
const FOR_A_MINUTE = "public, max-age=60";

export function servePublicData(
  app: FastifyInstance,
  folder: string,
  addressLimits: AddressLimits,
): void {
  const count = (request: FastifyRequest, reply: FastifyReply): void => {
    const { address, header } = new RequestClient(request, reply);
    addressLimits.takeRead(address, header);
  };
  app.get("/data/index.json", async (request, reply) => {
    count(request, reply);
    const bytes = await readFile(join(folder, "index.json")).catch(() => undefined);
    if (bytes === undefined) throw missing(request);
    const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
    reply.header("cache-control", FOR_A_MINUTE).header("etag", etag).type(JSON_TYPE);
    return isKnown(request, etag) ? reply.code(304).send() : reply.send(bytes);
  });
  app.get("/data/*", async (request, reply) => {
    count(request, reply);
    const path = requestPath(request).slice("/data/".length);
    if (!DAY_FILE.test(path)) throw missing(request);
    const file = join(folder, path);
    const found = await lstat(file).catch(() => undefined);
    // A link could lead anywhere.
    if (found === undefined || !found.isFile()) throw missing(request);
    // The files of a day never change, so that their path names them.
    const etag = `"${path}"`;
    reply.header("cache-control", FOR_EVER).header("etag", etag);
    reply.type(path.endsWith(".json") ? JSON_TYPE : "application/gzip");
    if (isKnown(request, etag)) return reply.code(304).send();
    return reply.header("content-length", found.size).send(createReadStream(file));
  });
}

function isKnown(request: FastifyRequest, etag: string): boolean {
  return request.headers["if-none-match"] === etag;
}

function missing(request: FastifyRequest): ApiError {
  return new ApiError("not_found", { path: requestPath(request) });
}
