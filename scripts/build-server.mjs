#!/usr/bin/env node
/**
 * Joins the built server, which is hundreds of modules, into a few files: it starts in two thirds of the
 * processor time. `apps/perpgate/bin/perpgate.js` runs them while they match the build.
 *
 * Every bundle has a folder of its own in `apps/perpgate/dist/bundle`, so that a process keeps the files that
 * it was started from. `current.json` names the newest, and the files that it was made from.
 */

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const app = join(root, "apps/perpgate");
const bundles = join(app, "dist/bundle");
const current = join(bundles, "current.json");

/** Change with every build, and with the installed dependencies. */
const MARKS = [
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/tsconfig.tsbuildinfo`),
  "apps/perpgate/tsconfig.tsbuildinfo",
  "node_modules/.package-lock.json",
  "scripts/build-server.mjs",
];

/** They load files next to their own: native code. */
const LEFT_OUT = [/^sodium-native$/, /^@node-rs\//];

/** A thread's or a process's module: the second argument, in the folder of its caller. */
const STARTED = /\b(?:start(?:Worker|Child)|venueModule)\(\s*"[\w-]+",\s*"\.\/([\w-]+\.js)"/g;

const started = {
  name: "started",
  transform(code, id) {
    for (const [, name] of code.matchAll(STARTED)) {
      this.emitFile({ type: "chunk", id: join(dirname(id), name), fileName: name });
    }
  },
};

async function bundle(folder) {
  const build = await rolldown({
    input: { main: join(app, "dist/main.js") },
    platform: "node",
    external: LEFT_OUT,
    plugins: [started],
    // Of dependencies: directives in their sources, and the like.
    logLevel: "silent",
  });
  await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await build.close();
}

/** Times of the files that a bundle depends on; one that does not exist has none. */
function marks() {
  const found = MARKS.filter((path) => existsSync(join(root, path)));
  return Object.fromEntries(found.map((path) => [path, statSync(join(root, path)).mtimeMs]));
}

function bundleNow() {
  return existsSync(current) ? JSON.parse(readFileSync(current, "utf8")) : undefined;
}

const from = marks();
const name = createHash("sha256").update(JSON.stringify(from)).digest("hex").slice(0, 16);
const before = bundleNow();
if (before?.name !== name || !existsSync(join(bundles, name))) {
  const building = join(bundles, `.${process.pid}`);
  mkdirSync(building, { recursive: true });
  await bundle(building);
  // Another start may have finished first, from the same files.
  if (existsSync(join(bundles, name))) rmSync(building, { recursive: true });
  else renameSync(building, join(bundles, name));
  writeFileSync(`${building}.json`, JSON.stringify({ name, from }));
  renameSync(`${building}.json`, current);
  const kept = [name, before?.name, basename(current)];
  const isOld = (file) => !kept.includes(file) && !file.startsWith(".");
  for (const old of readdirSync(bundles).filter(isOld)) {
    rmSync(join(bundles, old), { recursive: true, force: true });
  }
}
