/**
 * Every public function has an example, and every example compiles. The README's also run, with the
 * installed package: scripts/release.system.test.mjs.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Example,
  examplesOf,
  publicFunctionsOf,
  readSources,
} from "./testing/source-examples.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/lib/tsc.js");
const run = promisify(execFile);

/** Declarations that every example may use. */
const GIVEN = `
import * as sdk from "@perpgate/sdk";
import { checkEvidence, checkOrderProof, checkPreconfirm, checkReserves, connect, createSessionKey, ConnectionError, equityHistory, judgeReceipt, LogReader, newPrivateKey, openSession, PerpgateClient, PerpgateError, priceFor, privateKeyAccount, protectionOf, request, requestSigned, sessionKeyFromSecret, sizeFor, TimeoutError, verifyEd25519 } from "@perpgate/sdk";
import { getAccount, getMarkets, getTicker, placeOrder } from "@perpgate/sdk/operations";
declare const client: PerpgateClient;
declare const session: sdk.Session;
declare const account: sdk.MessageSigner;
declare const wallet: sdk.WalletProvider;
`;

function readmeBlocks(): Example[] {
  const text = readFileSync(join(PACKAGE, "README.md"), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => ({
    at: `README.md:${text.slice(0, match.index).split("\n").length}`,
    code: match[1] ?? "",
  }));
}

/** A whole program is compiled as it is; a fragment becomes a function body after the declarations. */
function programOf({ code }: Example): string {
  if (/^import /m.test(code)) return code;
  return `${GIVEN}\nexport async function example() {\n${code}\n}\n`;
}

/** The compiler's errors, by file and line of the example. */
async function compile(examples: readonly Example[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-examples-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  examples.forEach((example, number) => {
    writeFileSync(join(folder, `example-${number}.ts`), programOf(example));
  });
  const settings = {
    extends: join(ROOT, "tsconfig.base.json"),
    compilerOptions: {
      composite: false,
      declaration: false,
      declarationMap: false,
      noEmit: true,
      noUnusedLocals: false,
      lib: ["ES2023", "DOM", "DOM.Iterable"],
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
      // What the build published, which the compiler need not check again.
      paths: {
        "@perpgate/sdk": [join(PACKAGE, "dist/index.d.ts")],
        "@perpgate/sdk/operations": [join(PACKAGE, "dist/operations.d.ts")],
        "viem/accounts": [join(ROOT, "node_modules/viem/_types/accounts/index.d.ts")],
      },
    },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const output = await run(process.execPath, [
    TSC,
    "-p",
    folder,
    "--pretty",
    "false",
    "--checkers",
    "1",
  ]).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) =>
      line.replace(/^.*example-(\d+)\.ts/, (_, number) => examples[Number(number)]?.at ?? ""),
    );
}

const sources = readSources(join(PACKAGE, "src"));

describe("documentation", () => {
  test("every public function and method has an example", () => {
    const functions = publicFunctionsOf(sources);
    const names = functions.map(({ name }) => name);
    // The walk finds inherited methods, functions and those of streams.
    expect(names).toEqual(
      expect.arrayContaining([
        "createSessionKey",
        "checkPreconfirm",
        "MarketReader.markets",
        "AccountReader.fills",
        "AccountTrader.placeOrder",
        "Session.rotate",
        "SessionStream.watchOrders",
        "PublicStream.watchBook",
        "MirroredBook.bids",
      ]),
    );
    expect(names.length).toBeGreaterThan(45);
    const without = functions.filter(({ doc }) => doc?.includes("@example") !== true);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  test("every example compiles, and a wrong one would not", async () => {
    const examples = [...examplesOf(sources), ...readmeBlocks()];
    expect(examples.length).toBeGreaterThan(50);
    const wrong = {
      at: "wrong",
      code: 'await session.placeOrder({ symbol: "BTCUSD", side: "up" });',
    };
    const errors = await compile([...examples, wrong]);
    expect(errors.filter((line) => !line.startsWith("wrong(") && !line.startsWith(" "))).toEqual(
      [],
    );
    expect(errors.join("\n")).toContain("wrong(");
  });
});
