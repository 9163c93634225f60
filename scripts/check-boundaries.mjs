#!/usr/bin/env node
/**
 * The boundary check: import direction between packages, no import circles within one (type imports
 * count), purity of the engine and of what runs in browsers, paths of the interface, and packages that are published without their tests.
 *
 * Prints one line per violation and ends with code 1, or prints nothing and ends with 0. The allowed
 * imports are those of docs/architecture.md; every package needs an entry here.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { importsOf, withoutCommentsAndStrings } from "./source-text.mjs";

const SCOPE = "@perpgate/";
const ALL = [
  "protocol",
  "engine",
  "journal",
  "cluster",
  "link",
  "venue",
  "gateway",
  "bridge",
  "oracle",
  "sdk",
  "bots",
];

/** Which packages each package may import; itself always. */
const MAY_IMPORT = {
  "packages/protocol": [],
  "packages/engine": ["protocol"],
  "packages/journal": [],
  "packages/cluster": ["journal"],
  "packages/link": ["protocol"],
  "packages/venue": ["protocol", "engine", "journal", "link"],
  "packages/gateway": ["protocol", "journal", "link"],
  "packages/bridge": ["protocol", "journal"],
  "packages/oracle": ["protocol"],
  "packages/sdk": ["protocol"],
  "packages/bots": ["protocol", "journal", "sdk"],
  "packages/ccxt": ["protocol", "sdk"],
  "packages/sandbox": ["protocol", "journal", "link", "venue", "gateway", "sdk"],
  "packages/simulator": ALL,
  "apps/perpgate": [...ALL, "sandbox", "simulator"],
  "apps/terminal": ["protocol", "sdk"],
};

/** What a package's tests may import in addition: the real server behind a client. */
const TESTS_MAY_IMPORT = {
  "packages/journal": ["protocol"],
  "packages/cluster": ["link"],
  "packages/gateway": ["venue"],
  "packages/bridge": ["engine"],
  "packages/sdk": ["engine", "venue", "gateway", "oracle"],
  "packages/bots": ["engine", "venue", "gateway", "oracle"],
  "packages/ccxt": ["engine", "venue", "gateway", "oracle"],
  "apps/terminal": ["engine", "gateway", "sandbox", "venue"],
};

/** Folders with narrower rules: the packages and the sibling folders that they may import. */
const NARROWER = {
  "apps/perpgate/src/trader": { packages: ["protocol", "sdk"], folders: ["trader", "cli"] },
  "apps/perpgate/src/cli": { packages: ["protocol", "sdk"], folders: ["cli"] },
};

/** Sources of no package: only circles are looked for. */
const OUTSIDE_PACKAGES = ["bench", "examples", "scripts"];

/** Required among a package's `files`: tests are built next to the code that they test. */
const NO_TESTS = "!dist/**/*.test.*";

const RUNS_IN_BROWSERS = ["packages/protocol", "packages/sdk", "apps/terminal"];

/** Paths of the interface are written in the contract only; benchmarks send raw requests and may. */
const CONTRACT = "packages/protocol/src/operations/";
const INTERFACE_PATH = /["'`}]\/(?:v1\/[a-z]|ws\/v1)/;

/** What could make two replicas differ: clocks, randomness, scheduling, the environment. */
const IMPURE = [
  [/\bDate\.now\b/, "Date.now"],
  [/\bnew\s+Date\b/, "new Date"],
  [/\bDate\s*\(/, "Date()"],
  [/\bMath\.random\b/, "Math.random"],
  [/\bperformance\s*\./, "performance"],
  [/\bcrypto\s*\./, "crypto"],
  [/\basync\b/, "async"],
  [/\bawait\b/, "await"],
  [/\bnew\s+Promise\b|\bPromise\s*\./, "Promise"],
  [/\bset(?:Timeout|Interval|Immediate)\b/, "a timer"],
  [/\bqueueMicrotask\b/, "queueMicrotask"],
  [/(?<![.\w$])process\s*\./, "process"],
  [/\bglobalThis\b/, "globalThis"],
  [/\bfetch\s*\(/, "fetch"],
  [/\bconsole\s*\./, "console"],
  [/\btoLocale\w+\s*\(|\bIntl\s*\.|\blocaleCompare\b/, "the locale"],
];

export function checkBoundaries(root) {
  const violations = [];
  for (const owner of packagesOf(root)) {
    const allowed = MAY_IMPORT[owner];
    if (allowed === undefined) {
      violations.push(`${owner}: has no entry in scripts/check-boundaries.mjs`);
      continue;
    }
    violations.push(...checkManifest(root, owner, allowed));
    const files = sourcesOf(join(root, owner));
    for (const file of files) violations.push(...checkFile(root, owner, allowed, file));
    violations.push(...circlesIn(root, files));
  }
  // The linter's own rule for circles reads every declaration in node_modules first.
  for (const folder of OUTSIDE_PACKAGES) {
    violations.push(...circlesIn(root, sourcesOf(join(root, folder))));
  }
  return violations;
}

/** One line for each circle: a set of files of which each reaches all others. */
function circlesIn(root, files) {
  const known = new Set(files);
  const found = [];
  /** By file: its number in the walk, and the lowest number that it reaches. */
  const places = new Map();
  const path = [];
  const visit = (file) => {
    const place = { number: places.size, low: places.size, isOpen: true };
    places.set(file, place);
    const at = path.push(file) - 1;
    for (const next of fileImports(file, known)) {
      const reached = places.get(next) ?? visit(next);
      if (reached.isOpen) place.low = Math.min(place.low, reached.low);
    }
    if (place.low < place.number) return place;
    const circle = path.splice(at);
    for (const member of circle) places.get(member).isOpen = false;
    if (circle.length > 1) found.push(circle);
    return place;
  };
  for (const file of files) if (!places.has(file)) visit(file);
  const nameOf = (file) => relative(root, file).split(sep).join("/");
  return found.map((circle) => {
    return `${nameOf(circle[0])}: imports in a circle with ${circle.slice(1).map(nameOf).join(", ")}`;
  });
}

/** The files of the same package that the file imports, types included. */
function fileImports(file, known) {
  return importsOf(readFileSync(file, "utf8"))
    .filter((specifier) => specifier.startsWith("."))
    .flatMap((specifier) => {
      const target = resolve(dirname(file), specifier);
      const source = target.replace(/\.jsx?$/, "");
      return [target, `${source}.ts`, `${source}.tsx`].filter((path) => known.has(path));
    });
}

function checkManifest(root, owner, allowed) {
  const manifest = JSON.parse(readFileSync(join(root, owner, "package.json"), "utf8"));
  const forbidden = (dependencies, known) =>
    Object.keys(dependencies ?? {}).filter(
      (name) => name.startsWith(SCOPE) && !known.includes(name.slice(SCOPE.length)),
    );
  const violations = [
    ...forbidden(manifest.dependencies, allowed),
    ...forbidden(manifest.devDependencies, inTests(owner, allowed)),
  ].map((name) => `${owner}/package.json: ${owner} must not depend on ${name}`);
  const { files = [] } = manifest;
  if (files.includes("dist") && !files.includes(NO_TESTS)) {
    violations.push(`${owner}/package.json: "files" publishes tests; add "${NO_TESTS}"`);
  }
  return violations;
}

function checkFile(root, owner, allowed, file) {
  const where = relative(root, file).split(sep).join("/");
  const text = readFileSync(file, "utf8");
  const violations = [];
  for (const specifier of importsOf(text)) {
    const known = isTest(file) ? inTests(owner, allowed) : allowed;
    const problem = importProblem(join(root, owner), owner, known, file, specifier);
    if (problem !== undefined) violations.push(`${where}: ${problem}`);
  }
  if (isTest(file)) return violations;
  violations.push(...pathProblems(where, text));
  violations.push(...narrowerProblems(root, where, file, text));
  if (RUNS_IN_BROWSERS.includes(owner)) violations.push(...browserProblems(where, text));
  if (owner === "packages/engine") violations.push(...purityProblems(root, where, text));
  return violations;
}

function narrowerProblems(root, where, file, text) {
  const [folder, rule] =
    Object.entries(NARROWER).find(([path]) => where.startsWith(`${path}/`)) ?? [];
  if (rule === undefined) return [];
  const siblings = rule.folders.map((name) => join(root, dirname(folder), name) + sep);
  const isAllowed = (specifier) => {
    if (specifier.startsWith(SCOPE)) {
      return rule.packages.includes(specifier.slice(SCOPE.length).split("/")[0]);
    }
    if (!specifier.startsWith(".")) return true;
    return siblings.some((path) => resolve(dirname(file), specifier).startsWith(path));
  };
  return importsOf(text)
    .filter((specifier) => !isAllowed(specifier))
    .map((specifier) => `${where}: ${folder} must not import ${specifier}`);
}

function pathProblems(where, text) {
  if (where.startsWith(CONTRACT)) return [];
  return text
    .split("\n")
    .filter((line) => INTERFACE_PATH.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line))
    .map((line) => `${where}: writes a path of the interface: ${line.trim()}`);
}

function inTests(owner, allowed) {
  return [...allowed, ...(TESTS_MAY_IMPORT[owner] ?? [])];
}

function importProblem(folder, owner, allowed, file, specifier) {
  if (specifier.startsWith(".")) {
    const target = resolve(dirname(file), specifier);
    return target.startsWith(folder + sep) ? undefined : `"${specifier}" leaves ${owner}`;
  }
  if (!specifier.startsWith(SCOPE)) return undefined;
  const [name] = specifier.slice(SCOPE.length).split("/");
  if (allowed.includes(name) || owner === `packages/${name}`) return undefined;
  return `${owner} must not import ${specifier}`;
}

function browserProblems(where, text) {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith("node:"))
    .map((specifier) => `${where}: imports ${specifier}; this package also runs in a browser`);
}

function purityProblems(root, where, text) {
  const violations = [];
  const code = withoutCommentsAndStrings(text);
  for (const [pattern, name] of IMPURE) {
    if (pattern.test(code)) violations.push(`${where}: uses ${name}; the engine is pure`);
  }
  for (const specifier of importsOf(text)) {
    if (specifier.startsWith(".")) continue;
    if (!isPureProtocolPath(root, specifier)) {
      violations.push(`${where}: imports ${specifier}; the engine takes pure protocol parts only`);
    }
  }
  return violations;
}

/** A subpath of protocol is pure when it leads to files that import nothing but each other. */
function isPureProtocolPath(root, specifier) {
  const prefix = `${SCOPE}protocol/`;
  if (!specifier.startsWith(prefix)) return false;
  const folder = join(root, "packages/protocol");
  const name = specifier.slice(prefix.length);
  const { exports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const seen = new Set();
  const pending = [join(folder, exports[`./${name}`]?.["perpgate-source"] ?? `src/${name}.ts`)];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (!isFile(file)) return false;
    const text = readFileSync(file, "utf8");
    const code = withoutCommentsAndStrings(text);
    if (IMPURE.some(([pattern]) => pattern.test(code))) return false;
    for (const next of importsOf(text)) {
      if (!next.startsWith(".")) return false;
      pending.push(resolve(dirname(file), next.replace(/\.js$/, ".ts")));
    }
  }
  return true;
}

function packagesOf(root) {
  return ["packages", "apps"].flatMap((parent) =>
    list(join(root, parent))
      .filter((entry) => isFile(join(root, parent, entry.name, "package.json")))
      .map((entry) => `${parent}/${entry.name}`),
  );
}

function sourcesOf(folder) {
  return list(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name === "node_modules" || entry.name === "dist" ? [] : sourcesOf(path);
    }
    return /\.(?:ts|tsx|mts|mjs|js)$/.test(entry.name) ? [path] : [];
  });
}

function isTest(file) {
  return (
    /\.(?:test|bench)\.\w+$/.test(file) ||
    file.split(sep).some((part) => part === "test" || part === "testing")
  );
}

function list(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const violations = checkBoundaries(resolve(dirname(process.argv[1]), ".."));
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
