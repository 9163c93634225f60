/**
 * The published form of a package: code and types of the workspace packages that it imports are part of
 * it, so that it depends on nothing but public packages.
 *
 * Code is bundled from the sources, one file a module, so that bundlers can drop what is not used. Types
 * are those of the build (`tsc -b`), which has to be current.
 */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

export const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const SCOPE = "@perpgate/";
/** The folder of the code in a published package, which has a folder for each workspace package. */
const LIB = "lib";
/**
 * Other packages whose code is part of ours: msgpackr as plain JavaScript. Installed as a dependency it
 * brings an optional native part, whose install script npm warns of.
 */
const BUNDLED = ["msgpackr"];

/** Writes manifest, code, types, README and licence of a package into a folder; returns the manifest. */
export async function assemble(name, target) {
  const source = manifestOf(name);
  const modules = await bundleCode(name, source, join(target, LIB));
  const types = copyTypes(name, source, join(target, LIB));
  const parts = new Set([name, ...modules.packages, ...types.packages]);
  const inside = new Set([...parts].filter((part) => !BUNDLED.includes(part)));
  const manifest = publishedManifest(
    name,
    source,
    inside,
    new Set([...modules.externals, ...types.externals]),
  );
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const readme = readFileSync(join(folderOf(name), "README.md"), "utf8");
  writeFileSync(join(target, "README.md"), withoutOuterLinks(readme));
  cpSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
  for (const other of BUNDLED.filter((one) => parts.has(one))) {
    cpSync(join(ROOT, "node_modules", other, "LICENSE"), join(target, LIB, other, "LICENSE"));
  }
  return manifest;
}

export function folderOf(name) {
  return join(ROOT, "packages", name);
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(folderOf(name), "package.json"), "utf8"));
}

/** `#name` stays as it is: the published manifest has its map, and the package every file of it. */
const importMaps = {
  name: "import-maps",
  resolveId(specifier, importer) {
    if (!specifier.startsWith("#")) return null;
    const [name] = relative(join(ROOT, "packages"), importer).split(sep);
    for (const path of sourcesIn(manifestOf(name).imports[specifier])) {
      this.emitFile({ type: "chunk", id: join(folderOf(name), path) });
    }
    return { id: specifier, external: true };
  },
};

/** A thread's module: the second argument, next to its caller. */
const STARTED = /\bstartWorker\(\s*"[\w-]+",\s*"\.\/([\w-]+)\.js"/g;

/** Threads are files of the package, too, although nothing imports them. */
const threads = {
  name: "threads",
  transform(code, id) {
    for (const [, name] of code.matchAll(STARTED)) {
      this.emitFile({ type: "chunk", id: join(dirname(id), `${name}.ts`) });
    }
  },
};

/** A package that is loaded only where it is used. */
const REQUIRED = /\bcreateRequire\(import\.meta\.url\)\(\s*"([^"]+)"/g;

/** Every source that the manifest exports is an entry. */
async function bundleCode(name, manifest, lib) {
  const entries = sourcesIn(manifest.exports);
  const build = await rolldown({
    cwd: ROOT,
    input: entries.map((path) => join(folderOf(name), path)),
    platform: "neutral",
    external: isExternal,
    plugins: [importMaps, threads],
    resolve: { conditionNames: ["perpgate-source", "import", "default"] },
    // No comments with the paths of modules, which would depend on where the package is assembled.
    experimental: { attachDebugInfo: "none" },
  });
  const { output } = await build.write({
    dir: lib,
    format: "esm",
    sourcemap: true,
    preserveModules: true,
    preserveModulesRoot: join(ROOT, "packages"),
    // The maps hold the sources; their names must not depend on where the package is assembled.
    sourcemapPathTransform: (path, map) => {
      const source = `src/${inLib(resolve(dirname(map), path))}`;
      return posix.relative(dirname(`${LIB}/${relative(lib, map)}`), source);
    },
    entryFileNames: ({ name: path }) => `${inLib(path)}.js`,
  });
  await build.close();
  const chunks = output.filter(({ type }) => type === "chunk");
  const files = new Set(chunks.map(({ fileName }) => fileName));
  const imports = chunks.flatMap(({ imports, dynamicImports, code }) => [
    ...imports,
    ...dynamicImports,
    ...[...code.matchAll(REQUIRED)].map(([, specifier]) => specifier),
  ]);
  return {
    packages: chunks.map(({ fileName }) => fileName.split("/")[0]),
    externals: imports.filter((specifier) => !files.has(specifier)),
  };
}

/** `sdk/src/http/pacer` is `sdk/http/pacer`, wherever the bundler counts from; others go by their name. */
function inLib(path) {
  const [, other] = /node_modules[\\/](.*)$/.exec(path) ?? [];
  if (other !== undefined) return other.split(sep).join("/");
  return relative(join(ROOT, "packages"), resolve(ROOT, "packages", path))
    .split(sep)
    .filter((part) => part !== "src")
    .join("/");
}

function isExternal(specifier) {
  if (BUNDLED.includes(specifier)) return false;
  return !/^[./#]|^[A-Z]:/.test(specifier) && !specifier.startsWith(SCOPE);
}

const IMPORT = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)"([^"\s]+)"/g;

/** Copies the declarations that the entries lead to. */
function copyTypes(name, manifest, lib) {
  const pending = filesNamedIn([manifest.exports])
    .filter((path) => path.endsWith(".d.ts"))
    .map((path) => join(folderOf(name), path));
  const seen = new Set(pending);
  const packages = [];
  const externals = [];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    const place = placeOfTypes(file);
    packages.push(place.split("/")[0]);
    const text = readFileSync(file, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
    const moved = text.replace(IMPORT, (whole, before, specifier) => {
      const next = typesOf(file, specifier);
      if (next === undefined) {
        externals.push(specifier);
        return whole;
      }
      if (!seen.has(next)) {
        seen.add(next);
        pending.push(next);
      }
      const path = posix.relative(posix.dirname(place), placeOfTypes(next));
      return `${before}"${path.startsWith(".") ? path : `./${path}`}"`.replace(/\.d\.ts"$/, '.js"');
    });
    mkdirSync(dirname(join(lib, place)), { recursive: true });
    writeFileSync(join(lib, place), moved);
  }
  return { packages, externals };
}

/** The declarations of a module inside the package; undefined for other packages. */
function typesOf(file, specifier) {
  if (specifier.startsWith(".")) return join(dirname(file), specifier.replace(/\.js$/, ".d.ts"));
  if (!specifier.startsWith(SCOPE)) return undefined;
  const [name, ...path] = specifier.slice(SCOPE.length).split("/");
  const entry = manifestOf(name).exports[[".", ...path].join("/")];
  if (entry === undefined) throw new Error(`${specifier} is not exported, but ${file} imports it`);
  return join(folderOf(name), entry.types);
}

function placeOfTypes(file) {
  const parts = relative(join(ROOT, "packages"), file).split(sep);
  return parts.filter((part) => part !== "dist").join("/");
}

/** Without what only the workspace needs; dependencies are those that the code or its types import. */
function publishedManifest(name, source, inside, externals) {
  const sources = [...inside].map(manifestOf);
  const known = Object.assign({}, ...sources.map(({ dependencies }) => dependencies));
  const peers = source.peerDependencies ?? {};
  const dependencies = {};
  for (const specifier of [...externals].sort()) {
    // Node 20 does not know all that later releases have, such as node:sqlite.
    if (/^(#|node:)/.test(specifier) || isBuiltin(specifier)) continue;
    const dependency = specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
    if (dependency in peers) continue;
    if (!(dependency in known))
      throw new Error(`${name} imports ${dependency}, which is no dependency of it`);
    dependencies[dependency] = known[dependency];
  }
  const {
    scripts,
    devDependencies,
    dependencies: _,
    files,
    exports,
    imports: __,
    ...kept
  } = source;
  const importMaps = [...inside].map((part) => inPublished(part, manifestOf(part).imports ?? {}));
  const imports = Object.assign({}, ...importMaps);
  // The published types are plain files that need no such map.
  for (const conditions of Object.values(imports)) delete conditions.types;
  return {
    ...kept,
    exports: { ...inPublished(name, exports), "./package.json": "./package.json" },
    ...(Object.keys(imports).length === 0 ? {} : { imports }),
    files: [LIB],
    dependencies,
  };
}

/** Export and import maps with the paths of the published package, without the workspace's condition. */
function inPublished(name, map) {
  if (typeof map === "string") return map.replace(/^\.\/dist\//, `./${LIB}/${name}/`);
  return Object.fromEntries(
    Object.entries(map)
      .filter(([key]) => key !== "perpgate-source")
      .map(([key, value]) => [key, inPublished(name, value)]),
  );
}

function sourcesIn(map) {
  return filesNamedIn([map]).filter((path) => path.startsWith("./src/"));
}

function filesNamedIn(map) {
  if (map === undefined || map === null) return [];
  if (typeof map === "string") return [map];
  return [...new Set(Object.values(map).flatMap(filesNamedIn))];
}

/** Links to other parts of the repository would lead nowhere. */
function withoutOuterLinks(text) {
  return text.replace(/\[([^\]]+)\]\((?:\.\.\/)+([^)]+)\)/g, (_, words, path) =>
    words.includes(path.split("#")[0]) ? words : `${words} (${path.split("#")[0]})`,
  );
}
