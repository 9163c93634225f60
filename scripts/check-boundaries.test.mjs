import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { checkBoundaries } from "./check-boundaries.mjs";
import { importsOf, withoutCommentsAndStrings } from "./source-text.mjs";

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The violations of a repository with these files; a package without a manifest gets an empty one. */
function violationsOf(files) {
  const root = mkdtempSync(join(tmpdir(), "perpgate-boundaries-"));
  folders.push(root);
  const packages = new Set(Object.keys(files).map((path) => path.split("/").slice(0, 2).join("/")));
  const manifests = [...packages].map((folder) => [`${folder}/package.json`, "{}"]);
  for (const [path, text] of Object.entries({ ...Object.fromEntries(manifests), ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkBoundaries(root);
}

const ENGINE = "packages/engine/src/match.ts";

test("a circle of imports: named with its files, also one that closes through a type", () => {
  const files = {
    "packages/engine/src/a.ts": 'import { b } from "./b.js";',
    "packages/engine/src/b.ts": 'import type { C } from "./c/c.js";',
    "packages/engine/src/c/c.ts": 'export { a } from "../a.js";',
    "packages/engine/src/d.ts": 'import { a } from "./a.js"; // import "./e.js"',
    "packages/engine/src/e.ts": 'import { d } from "./d.js";',
  };
  const [problem, ...others] = violationsOf(files);
  expect(others).toEqual([]);
  for (const name of ["a", "b", "c/c"]) expect(problem).toContain(`packages/engine/src/${name}.ts`);
  expect(problem).not.toMatch(/src\/[de]\.ts/);
});

test("a circle of imports in scripts: named", () => {
  const files = {
    "scripts/testing/a.mjs": 'import { b } from "./b.mjs";',
    "scripts/testing/b.mjs": 'import { a } from "./a.mjs";',
  };
  expect(violationsOf(files)).toEqual([expect.stringMatching(/scripts.testing.[ab]/)]);
});

describe("import direction", () => {
  test("this repository: no violation", () => {
    expect(checkBoundaries(resolve(dirname(fileURLToPath(import.meta.url)), ".."))).toEqual([]);
  });

  test.each([
    ["protocol imports engine", "packages/protocol/src/a.ts", 'import "@perpgate/engine";'],
    [
      "gateway imports engine",
      "packages/gateway/src/a.ts",
      'import { x } from "@perpgate/engine";',
    ],
    [
      "gateway imports a type of the engine",
      "packages/gateway/src/a.ts",
      'import type { X } from "@perpgate/engine";',
    ],
    ["gateway re-exports engine", "packages/gateway/src/a.ts", 'export * from "@perpgate/engine";'],
    [
      "gateway imports engine at run time",
      "packages/gateway/src/a.ts",
      'const x = import("@perpgate/engine");',
    ],
    ["journal imports engine", "packages/journal/src/a.ts", 'import "@perpgate/engine/state";'],
    [
      "a test of journal imports engine",
      "packages/journal/src/a.test.ts",
      'import "@perpgate/engine";',
    ],
    ["oracle imports gateway", "packages/oracle/src/a.ts", 'import "@perpgate/gateway";'],
    ["gateway imports venue", "packages/gateway/src/a.ts", 'import "@perpgate/venue";'],
    ["terminal imports venue", "apps/terminal/src/a.ts", 'import "@perpgate/venue";'],
    ["venue imports simulator", "packages/venue/src/a.test.ts", 'import "@perpgate/simulator";'],
    [
      "a path out of the package",
      "packages/gateway/src/a.ts",
      'import "../../engine/src/state.js";',
    ],
    [
      "an import over several lines",
      "packages/gateway/src/a.ts",
      'import {\n  x,\n  y,\n} from\n  "@perpgate/engine";',
    ],
  ])("%s: refused", (_, path, text) => {
    expect(violationsOf({ [path]: text })).toHaveLength(1);
  });

  test("a dependency in the manifest alone: refused", () => {
    const manifest = JSON.stringify({ dependencies: { "@perpgate/engine": "1" } });
    expect(violationsOf({ "packages/gateway/package.json": manifest })).toEqual([
      "packages/gateway/package.json: packages/gateway must not depend on @perpgate/engine",
    ]);
  });

  test("the engine behind the bridge's tests: allowed there, refused in what ships", () => {
    const text = 'import { Engine } from "@perpgate/engine";';
    const manifest = (key) => JSON.stringify({ [key]: { "@perpgate/engine": "1" } });
    const path = "packages/bridge/package.json";
    expect(
      violationsOf({ "packages/bridge/test/a.ts": text, [path]: manifest("devDependencies") }),
    ).toEqual([]);
    expect(
      violationsOf({ "packages/bridge/src/a.ts": text, [path]: manifest("dependencies") }),
    ).toHaveLength(2);
    expect(violationsOf({ "packages/oracle/test/a.ts": text })).toHaveLength(1);
  });

  test("a package that would publish its tests: refused", () => {
    const manifest = (...files) => ({ "packages/journal/package.json": JSON.stringify({ files }) });
    expect(violationsOf(manifest("dist", "README.md"))).toEqual([
      'packages/journal/package.json: "files" publishes tests; add "!dist/**/*.test.*"',
    ]);
    expect(violationsOf(manifest("dist", "!dist/**/*.test.*"))).toEqual([]);
    expect(violationsOf(manifest("bin"))).toEqual([]);
  });

  test("the trader's commands import the server, directly or through a folder: refused", () => {
    expect(
      violationsOf({
        "apps/perpgate/src/trader/a.ts": 'import "@perpgate/sdk"; import "../cli/b.js";',
        "apps/perpgate/src/trader/b.ts": 'import "@perpgate/venue";',
        "apps/perpgate/src/trader/c.ts": 'const { d } = await import("../serve/d.js");',
        "apps/perpgate/src/trader/c.test.ts": 'import "@perpgate/venue";',
        "apps/perpgate/src/operator/e.ts": 'import "@perpgate/venue"; import "../trader/a.js";',
      }),
    ).toEqual([
      "apps/perpgate/src/trader/b.ts: apps/perpgate/src/trader must not import @perpgate/venue",
      "apps/perpgate/src/trader/c.ts: apps/perpgate/src/trader must not import ../serve/d.js",
    ]);
  });

  test("a package without an entry: refused", () => {
    expect(violationsOf({ "packages/utils/src/a.ts": "" })).toEqual([
      "packages/utils: has no entry in scripts/check-boundaries.mjs",
    ]);
  });

  test("allowed imports, comments and strings: no violation", () => {
    expect(
      violationsOf({
        "packages/venue/src/a.ts": 'import "@perpgate/engine"; import "@perpgate/journal";',
        "packages/simulator/src/a.ts":
          'import "@perpgate/venue"; import "@perpgate/journal/testing";',
        "packages/gateway/src/a.ts": '// import "@perpgate/engine"\nimport "@perpgate/protocol";',
        "apps/perpgate/src/a.ts": 'import "@perpgate/venue"; import "@perpgate/oracle";',
        "packages/gateway/node_modules/x/a.ts": 'import "@perpgate/engine";',
      }),
    ).toEqual([]);
  });

  test("a path of the interface: refused outside the contract, except in comments and tests", () => {
    const file = (name, text) => ({ [name]: text });
    const path = 'const path = "/v1/orders";';
    expect(violationsOf(file("packages/sdk/src/a.ts", path))).toHaveLength(1);
    expect(violationsOf(file("packages/sdk/src/a.ts", 'const u = url + "/ws/v1";'))).toHaveLength(
      1,
    );
    expect(violationsOf(file("packages/sdk/src/a.ts", "/** `/v1/orders` */"))).toEqual([]);
    expect(violationsOf(file("packages/sdk/src/a.test.ts", path))).toEqual([]);
    expect(violationsOf(file("packages/protocol/src/operations/a.ts", path))).toEqual([]);
  });

  test("protocol imports node: refused, except in tests", () => {
    expect(violationsOf({ "packages/protocol/src/a.ts": 'import "node:fs";' })).toHaveLength(1);
    expect(violationsOf({ "packages/protocol/src/a.test.ts": 'import "node:fs";' })).toEqual([]);
  });
});

describe("engine purity", () => {
  test.each([
    "const t = Date.now();",
    "const t = new Date();",
    "const r = Math.random();",
    "const t = performance.now();",
    "async function f() {}",
    "const x = await y;",
    "setTimeout(f, 1);",
    "const e = process.env.X;",
    "console.log(1);",
    'import { readFileSync } from "node:fs";',
    'import fc from "fast-check";',
    'import { Type } from "@perpgate/protocol";',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file under test
    "const s = `${Date.now()}`;",
  ])("%s: refused", (text) => {
    expect(violationsOf({ [ENGINE]: text })).not.toEqual([]);
  });

  test("a protocol subpath is judged by what it leads to", () => {
    const pure = { "packages/protocol/src/integers.ts": "export const one = 1;" };
    const through = { "packages/protocol/src/units.ts": 'export * from "./decimal.js";' };
    const decimal = (text) => ({ "packages/protocol/src/decimal.ts": text });
    const engine = (name) => ({ [ENGINE]: `import "@perpgate/protocol/${name}";` });
    expect(violationsOf({ ...pure, ...engine("integers") })).toEqual([]);
    expect(violationsOf({ ...through, ...decimal(""), ...engine("units") })).toEqual([]);
    expect(
      violationsOf({ ...through, ...decimal('import "typebox";'), ...engine("units") }),
    ).toHaveLength(1);
    expect(
      violationsOf({ ...through, ...decimal("Date.now();"), ...engine("units") }),
    ).toHaveLength(1);
    expect(violationsOf({ ...pure, ...engine("missing") })).toHaveLength(1);
  });

  test("the same words in comments, strings, members and tests: allowed", () => {
    expect(
      violationsOf({
        [ENGINE]: '/* Date.now, await */ const s = "new Date"; // async\nstate.process.x;',
        "packages/engine/src/match.test.ts": 'import fc from "fast-check"; Date.now();',
        "packages/engine/src/match.bench.ts": "performance.now();",
      }),
    ).toEqual([]);
  });
});

describe("source text", () => {
  test("importsOf: names each module once per mention, none from comments", () => {
    const text =
      'import a from "a"; /* import "b" */ export { c } from \'c\'; import("d"); // from "e"';
    expect(importsOf(text).sort()).toEqual(["a", "c", "d"]);
  });

  test("withoutCommentsAndStrings: a quote in a comment opens no string", () => {
    expect(withoutCommentsAndStrings("// don't\nawait x;")).toContain("await x;");
    expect(withoutCommentsAndStrings('const a = "// not a comment"; await x;')).toContain(
      "await x",
    );
  });
});
