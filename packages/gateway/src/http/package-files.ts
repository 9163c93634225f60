/**
 * The client packages of this release: `GET /sdk.tgz` and the like, which `npm install` takes.
 *
 * Files are read once, at start, and served from memory: no request reads the disk or builds anything,
 * and a rebuild does not affect a running process. Each download counts as a read of its client's
 * address.
 */

import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { AddressLimits } from "../limits/limits.js";
import { RequestClient } from "./client.js";

/** A name is a path of its own, so it must not be a route pattern. */
const NAME = /^[a-z][a-z0-9-]*\.tgz$/;
/** Larger files are something else than a client package. */
const MAX_BYTES = 4 * 2 ** 20;

export async function servePackageFiles(
  app: FastifyInstance,
  folder: string,
  addressLimits: AddressLimits,
): Promise<void> {
  for (const name of (await readdir(folder)).filter((file) => NAME.test(file))) {
    const path = join(folder, name);
    if ((await stat(path)).size > MAX_BYTES) continue;
    const bytes = await readFile(path);
    const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
    app.get(`/${name}`, (request, reply) => {
      const { address, header } = new RequestClient(request, reply);
      addressLimits.takeRead(address, header);
      // The path stays the same with the next release, so a cache has to ask.
      reply.header("cache-control", "no-cache").header("etag", etag);
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type("application/gzip").send(bytes);
    });
  }
}
