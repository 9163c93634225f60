/** What a package file must be: read by publint and are-the-types-wrong, and by rules of our own. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/**
 * Of resolution modes that these packages do not serve: they are ES modules for Node 20.19, whose
 * `require` loads them, and TypeScript's old `node10` knows no exports.
 */
const NOT_SERVED = new Set(["CJSResolvesToESM"]);
const OLD_RESOLUTION = "node10";

/** Problems of a package file that was unpacked into a folder; none if it may be published. */
export async function problemsOf(tarball, folder) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const linted = await publint({ pkgDir: folder, strict: true, pack: false });
  const { problems = [] } = await checkPackage(createPackageFromTarballData(tarball));
  const wrong = problems.filter(
    ({ kind, resolutionKind }) => !NOT_SERVED.has(kind) && resolutionKind !== OLD_RESOLUTION,
  );
  return [
    ...linted.messages.map((message) => formatMessage(message, manifest) ?? message.code),
    ...wrong.map((problem) => `types: ${JSON.stringify(problem)}`),
    ...manifestProblems(manifest, folder),
    ...filesIn(folder).flatMap((path) => fileProblems(path, folder)),
  ];
}

function manifestProblems(manifest, folder) {
  const problems = [];
  for (const name of ["README.md", "LICENSE"]) {
    if (!existsSync(join(folder, name))) problems.push(`${name} is missing`);
  }
  for (const field of [
    "name",
    "version",
    "description",
    "license",
    "exports",
    "engines",
    "files",
  ]) {
    if (manifest[field] === undefined) problems.push(`package.json has no ${field}`);
  }
  const needed = { ...manifest.dependencies, ...manifest.peerDependencies };
  for (const name of Object.keys(needed).filter((dependency) =>
    dependency.startsWith("@perpgate/"),
  )) {
    problems.push(`depends on ${name}, which is not published`);
  }
  if (manifest.scripts !== undefined)
    problems.push("has scripts, which would run where it is installed");
  return problems;
}

function fileProblems(path, folder) {
  if (/\.test\.|(^|\/)testing\//.test(path)) return [`${path} is a test`];
  const text = readFileSync(join(folder, path), "utf8");
  if (path.endsWith(".map")) return mapProblems(path, JSON.parse(text));
  const problems =
    /["']@perpgate\/(?!sdk|ccxt)/.test(text) && /\.(js|d\.ts)$/.test(path)
      ? [`${path} imports a package of the workspace`]
      : [];
  const [, map] = /\/\/# sourceMappingURL=(\S+)/.exec(text) ?? [];
  if (map !== undefined && !existsSync(join(folder, dirname(path), map))) {
    problems.push(`${path} names the source map ${map}, which is missing`);
  }
  return problems;
}

/** Without a repository next to the package, a map is of use only with its sources in it. */
function mapProblems(path, { sources, sourcesContent = [] }) {
  return sources.flatMap((source, at) =>
    typeof sourcesContent[at] === "string" ? [] : [`${path} lacks the text of ${source}`],
  );
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
