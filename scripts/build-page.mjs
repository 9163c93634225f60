#!/usr/bin/env node
/**
 * Builds the trading page into a folder, by default `apps/terminal/dist`.
 *
 * A folder that was built from the same sources is left unchanged. A new page is built in another
 * folder and then renamed into place: two concurrent starts, or a gateway that reads the folder, never
 * see half a page.
 */

import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { rolldown } from "rolldown";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const terminal = join(root, "apps/terminal");
const INPUTS = [
  "apps/terminal/index.html",
  "apps/terminal/package.json",
  "apps/terminal/public",
  "apps/terminal/src",
  "apps/terminal/vite.config.ts",
  "packages/protocol/package.json",
  "packages/protocol/src",
  "packages/sdk/package.json",
  "packages/sdk/src",
  "package-lock.json",
  "scripts/build-page.mjs",
];
/** The gateway serves these compressed; index.html gets its addresses and is compressed there. */
const COMPRESSED = /^(?!.*index\.html$).*\.(js|css|svg|html)$/;
const MIN_COMPRESSED_BYTES = 1_024;
const STAMP = ".stamp";

/** A hash of every file that the page is made from. */
function stampOf() {
  const hash = createHash("sha256");
  for (const path of INPUTS.flatMap((input) => filesIn(join(root, input)))) {
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

function filesIn(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

function isBuiltFrom(folder, stamp) {
  const path = join(folder, STAMP);
  return existsSync(path) && readFileSync(path, "utf8") === stamp;
}

/** The page that checks a proof: one file, whose own policy allows its script and style and nothing else. */
async function buildCheckPage(folder) {
  const source = join(terminal, "src/check");
  const build = await rolldown({
    input: join(source, "main.ts"),
    platform: "browser",
    resolve: { conditionNames: ["perpgate-source", "browser", "import", "default"] },
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "iife", minify: true });
  await build.close();
  // What ends a script's element in HTML cannot be in it.
  const script = output[0].code.replaceAll("</script", "<\\/script").trim();
  const page = readFileSync(join(source, "check.html"), "utf8");
  const style = /<style>(.*?)<\/style>/s.exec(page)[1];
  const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const whole = page
    .replace('<meta charset="utf-8">', (first) => `${first}\n${meta}`)
    .replace("<!-- script -->", () => `<script>${script}</script>`);
  writeFileSync(join(folder, "check.html"), whole);
}

function compress(folder) {
  for (const path of filesIn(folder)) {
    const bytes = readFileSync(path);
    if (!COMPRESSED.test(path) || bytes.length < MIN_COMPRESSED_BYTES) continue;
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
  }
}

function putInPlace(built, folder) {
  mkdirSync(dirname(folder), { recursive: true });
  const old = `${built}-old`;
  if (existsSync(folder)) renameOrCopy(folder, old);
  try {
    renameOrCopy(built, folder);
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

function renameOrCopy(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another file system; or another start has just renamed its page into place.
    if (error.code !== "EXDEV" && error.code !== "ENOTEMPTY" && error.code !== "EEXIST")
      throw error;
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true });
    rmSync(from, { recursive: true, force: true });
  }
}

const folder = resolve(process.argv[2] ?? join(terminal, "dist"));
const stamp = stampOf();
if (!isBuiltFrom(folder, stamp)) {
  // A page that is served is a production build, whatever the environment says.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  const built = join(terminal, "node_modules", `.page-${process.pid}`);
  try {
    await build({
      configFile: join(terminal, "vite.config.ts"),
      logLevel: "warn",
      build: { outDir: built, emptyOutDir: true },
    });
    await buildCheckPage(built);
    compress(built);
    writeFileSync(join(built, STAMP), stamp);
    // Another start may have finished first with the same sources; its gateway reads that page.
    if (!isBuiltFrom(folder, stamp)) putInPlace(built, folder);
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}
