#!/usr/bin/env node
/**
 * Compiles tokens.sol and writes bytecode.ts, so that the tests need no compiler.
 * With `--check`: writes nothing and fails if bytecode.ts is outdated.
 */

import { readFileSync, writeFileSync } from "node:fs";
import solc from "solc";

const source = new URL("./tokens.sol", import.meta.url);
const target = new URL("./bytecode.ts", import.meta.url);

const input = {
  language: "Solidity",
  sources: { "tokens.sol": { content: readFileSync(source, "utf8") } },
  settings: {
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: "none", appendCBOR: false },
    outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join("\n"));

const entries = Object.entries(output.contracts["tokens.sol"]).map(
  ([name, { evm }]) => `  ${name}:\n    "0x${evm.bytecode.object}",\n`,
);
const text = `/** Written by compile.mjs from tokens.sol with solc ${solc.version().split("+")[0]}. */\n
export const BYTECODE = {\n${entries.join("")}} as const;\n`;

if (process.argv.includes("--check")) {
  process.exitCode = readFileSync(target, "utf8") === text ? 0 : 1;
} else {
  writeFileSync(target, text);
}
