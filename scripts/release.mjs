#!/usr/bin/env node
/**
 * Packs every public package from a clean copy of the repository, checks the files, and uses them in an
 * empty folder. Prints one line per package; ends with code 1 if one may not be published.
 *
 * usage: node scripts/release.mjs [FOLDER for the package files [FOLDER that they are installed in]]
 *
 * It publishes nothing: `npm publish FILE` does.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ROOT } from "./packing/assemble.mjs";
import { problemsOf } from "./packing/check-package.mjs";
import { cleanClone } from "./packing/clean-clone.mjs";
import { compileTypes } from "./packing/compile-types.mjs";
import { publicPackages } from "./packing/public-packages.mjs";

const work = mkdtempSync(join(tmpdir(), "perpgate-release-"));
const files = resolve(process.argv[2] ?? join(work, "files"));
const installed = resolve(process.argv[3] ?? join(work, "empty"));
const TYPES =
  "--ignoreConfig --noEmit --strict --module nodenext --target es2023 --types node --checkers 1";

function npm(args, cwd) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** As a stranger packs it: `npm pack` in a clone in which nothing is built. */
function pack(name, clone) {
  const answer = npm(
    ["pack", "--json", "--loglevel=error", "--pack-destination", files],
    join(clone, "packages", name),
  );
  // What `prepack` prints comes first.
  const packed = JSON.parse(answer.slice(answer.search(/^[[{]/m)));
  const [{ filename, size, entryCount }] = Array.isArray(packed) ? packed : Object.values(packed);
  return { name, path: join(files, filename), size, entryCount };
}

async function check({ name, path }) {
  const unpacked = join(work, "unpacked", name);
  mkdirSync(unpacked, { recursive: true });
  execFileSync("tar", ["-xzf", path, "-C", unpacked, "--strip-components=1"]);
  return problemsOf(readFileSync(path), unpacked);
}

/** Installs all files in an empty folder, loads every entry, and compiles programs that import them. */
function useInEmptyFolder(packages) {
  mkdirSync(installed, { recursive: true });
  const quiet = ["--loglevel=error", "--no-audit", "--no-fund", "--prefer-offline"];
  npm(["install", ...quiet, ...packages.map(({ path }) => path)], installed);
  const entries = packages.flatMap(({ name }) => entriesOf(name));
  writeFileSync(join(installed, "use.mjs"), programOf(entries));
  execFileSync(process.execPath, ["use.mjs"], { cwd: installed, stdio: "inherit" });
  for (const { name } of packages) compile(name);
  return entries;
}

function manifestOf(name) {
  const path = join(installed, "node_modules/@perpgate", name, "package.json");
  return JSON.parse(readFileSync(path, "utf8"));
}

function entriesOf(name) {
  const { name: fullName, exports } = manifestOf(name);
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith(".json"))
    .map((entry) => fullName + entry.slice(1));
}

function programOf(entries) {
  const imports = entries.map((entry, at) => `import * as e${at} from "${entry}";`).join("\n");
  const names = entries.map((_, at) => `Object.keys(e${at}).length`).join(", ");
  return `${imports}\nif ([${names}].includes(0)) throw new Error("an entry exports nothing");\n`;
}

/**
 * Declarations are checked, too. Not those of a package with peers: the compiler would check the peer's
 * (ten seconds for CCXT), and are-the-types-wrong has followed every import of ours.
 */
function compile(name) {
  const program = `use-${name}.mts`;
  writeFileSync(join(installed, program), programOf(entriesOf(name)));
  const types = ["--typeRoots", join(ROOT, "node_modules/@types"), "--pretty", "false"];
  if (manifestOf(name).peerDependencies !== undefined) types.push("--skipLibCheck");
  compileTypes([...TYPES.split(" "), ...types, program], installed);
}

try {
  const clone = join(work, "clone");
  mkdirSync(clone);
  mkdirSync(files, { recursive: true });
  cleanClone(clone);
  const packages = publicPackages().map((name) => pack(name, clone));
  for (const packed of packages) {
    const problems = await check(packed);
    for (const problem of problems) console.error(`${packed.name}: ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
    const { name, size, entryCount } = packed;
    console.log(
      `${name}: ${entryCount} files, ${Math.round(size / 1_024)} KiB, ${problems.length} problems`,
    );
  }
  console.log(`used in an empty folder: ${useInEmptyFolder(packages).join(", ")}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
