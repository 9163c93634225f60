import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runVenue } from "@perpgate/gateway/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { assemble } from "./packing/assemble.mjs";
import { publicPackages } from "./packing/public-packages.mjs";
import { tarballOf } from "./packing/tarball.mjs";

const RELEASE = fileURLToPath(new URL("release.mjs", import.meta.url));
const MANUAL = fileURLToPath(new URL("testing/ccxt-manual.mjs", import.meta.url));
/** A message may be ten minutes old but only one ahead, so the stopped clock of the venue is ahead. */
const CLOCK_LEAD_MS = 240_000;
const run = promisify(execFile);

/**
 * The oldest Node that clients may run on: TEST_NODE_20 names
 * it. Without it tests use the Node that runs them, and a warning says so; with REQUIRE_NODE_20=1, as in
 * continuous integration, they fail.
 */
function oldestNode() {
  const path = process.env.TEST_NODE_20;
  if (path !== undefined) return path;
  if (process.env.REQUIRE_NODE_20 === "1") throw new Error("TEST_NODE_20 is not set");
  console.warn("Not tried on Node 20: TEST_NODE_20 names none.");
  return process.execPath;
}

function temporaryFolder(atEnd = onTestFinished) {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-packages-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Path and text of every file. */
function contentsOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")])
      .sort(),
  );
}

let files;
let installed;
let said;

beforeAll(async () => {
  [files, installed] = [temporaryFolder(afterAll), temporaryFolder(afterAll)];
  ({ stdout: said } = await run(process.execPath, [RELEASE, files, installed]));
}, 600_000);

test("release: every public package packs in a fresh clone, has no problem and works in an empty folder", async () => {
  for (const name of publicPackages()) {
    expect(said).toMatch(new RegExp(`^${name}: \\d+ files, \\d+ KiB, 0 problems$`, "m"));
    expect(said).toMatch(new RegExp(`^used in an empty folder: .*@perpgate/${name}`, "m"));
    // The gateway serves the same files.
    const [packed, assembled] = [temporaryFolder(), temporaryFolder()];
    const { version } = await assemble(name, assembled);
    const file = join(files, `perpgate-${name}-${version}.tgz`);
    await run("tar", ["-xzf", file, "-C", packed, "--strip-components=1"]);
    expect(contentsOf(packed)).toEqual(contentsOf(assembled));
  }
});

test("the SDK: nothing that npm installs with it has an install script", () => {
  const { packages } = JSON.parse(readFileSync(join(installed, "package-lock.json"), "utf8"));
  const needed = new Set(["@perpgate/sdk"]);
  for (const name of needed) {
    const { dependencies, optionalDependencies, hasInstallScript } =
      packages[`node_modules/${name}`];
    expect(hasInstallScript, name).toBeUndefined();
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) {
      needed.add(other);
    }
  }
  expect([...needed]).toContain("ws");
});

/** The programs of a package's README that stand on their own. */
function readmePrograms(name) {
  const page = readFileSync(join(installed, "node_modules/@perpgate", name, "README.md"), "utf8");
  const blocks = [...page.matchAll(/^```[jt]s\n([\s\S]*?)^```/gm)].map(([, text]) => text);
  return blocks.filter((text) => text.startsWith("import "));
}

/** Runs programs one after another in one process of the folder with the packages; what each printed. */
async function outputs(programs, url) {
  const names = programs.map((program, at) => {
    const name = `./program-${at}.mjs`;
    writeFileSync(join(installed, name), program.replaceAll("http://127.0.0.1:8080", url));
    return name;
  });
  const rule = "-----";
  const loop = `for (const name of ${JSON.stringify(names)}) { await import(name); console.log("${rule}"); }`;
  writeFileSync(join(installed, "programs.mjs"), loop);
  const { stdout } = await run(oldestNode(), ["programs.mjs"], {
    cwd: installed,
    env: { ...process.env, PRIVATE_KEY: newPrivateKey() },
  });
  return stdout.split(`${rule}\n`);
}

test("the installed packages: the programs of their pages and of CCXT's manual, on the oldest Node, on a live venue", async () => {
  const { url } = await runVenue({ startMs: Date.now() + CLOCK_LEAD_MS });
  const client = new PerpgateClient({ url });
  onTestFinished(() => client.close());
  const maker = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const quote = { symbol: "BTCUSD", type: "limit", size: 0.4, leverage: 10 };
  await maker.placeOrder({ ...quote, side: "long", price: 64_900 });
  await maker.placeOrder({ ...quote, side: "short", price: 65_100 });

  const ofSdk = readmePrograms("sdk");
  expect(ofSdk).toHaveLength(2);
  const ofCcxt = readmePrograms("ccxt");
  expect(ofCcxt).toHaveLength(2);
  const all = [...ofSdk, ...ofCcxt, readFileSync(MANUAL, "utf8")];
  const [first, functions, calls, watches, manual] = await outputs(all, url);

  for (const printed of [first, functions]) expect(printed).toMatch(/resting|filled/);
  expect(calls).toContain("best bid and ask [ 64900");
  expect(calls).toMatch(/^\d+ open 0\.01$/m);
  expect(calls).toMatch(/^0\.02$/m);
  expect(calls).toMatch(/^closed 0\.01 65100 /m);
  expect(calls).toMatch(/^long 0\.01 65100 \d/m);
  expect(calls.trimEnd()).toMatch(/closed$/);
  expect(watches).toMatch(/^\d+ buy 0\.01 65100$/m);
  expect(watches.match(/^\S+Z \[/gm)?.length).toBe(2);
  expect(
    manual.split("\n").filter((line) => !/^(watch|candles ETH|candles SOL)/.test(line)),
  ).toEqual([
    "book perpgate BTC/USD:USD { bid: 64900, ask: 65100, spread: 200 }",
    "book perpgate ETH/USD:USD { bid: undefined, ask: undefined, spread: undefined }",
    "book perpgate SOL/USD:USD { bid: undefined, ask: undefined, spread: undefined }",
    expect.stringMatching(/^candles BTC\/USD:USD [1-9]\d* 6$/),
    "created open buy 60000 0.01",
    "edited open 60500 0.02",
    "open true 0.02",
    "after the cancel canceled",
    "position long 0.01 65100",
    "positions 0",
    "refused OrderNotFound",
    "refused BadSymbol",
    "refused InsufficientFunds",
    "refused InvalidOrder",
    expect.stringMatching(/^network /),
    "",
  ]);
  for (const name of ["OrderBook", "Ticker", "Balance"])
    expect(manual).toContain(`watch${name} one`);
  for (const name of ["Trades", "OHLCV", "Orders", "MyTrades", "Positions"]) {
    expect(manual).toMatch(new RegExp(`^watch${name} [1-9]`, "m"));
  }
}, 300_000);

test("the installed sandbox: its page's program, imported and required", async () => {
  const [program] = readmePrograms("sandbox");
  writeFileSync(join(installed, "sandbox.mjs"), program);
  const required = `async function run() {${program}} run();`.replace(
    /import (.*) from ("[^"]*");/,
    "const $1 = require($2);",
  );
  writeFileSync(join(installed, "sandbox.cjs"), required);
  for (const name of ["sandbox.mjs", "sandbox.cjs"]) {
    const { stdout, stderr } = await run(process.execPath, [name], { cwd: installed });
    expect([stdout, stderr]).toEqual(["filled []\n", ""]);
  }
});

test("a package file: the same bytes for the same files, which tar reads", async () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  await assemble("sdk", first);
  await assemble("sdk", second);
  const bytes = tarballOf(first);
  expect(bytes.equals(tarballOf(second))).toBe(true);
  const file = join(temporaryFolder(), "sdk.tgz");
  writeFileSync(file, bytes);
  const unpacked = temporaryFolder();
  await run("tar", ["-xzf", file, "-C", unpacked, "--strip-components=1"]);
  expect(contentsOf(unpacked)).toEqual(contentsOf(first));
});
