#!/usr/bin/env node
/**
 * Compiles the vault and the tokens of the tests and writes what programs need of them, so that nothing but
 * this script needs a compiler. With `--check`: writes nothing and fails if a written file is outdated.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import solc from "solc";

/** The vault's code uses no instruction that is newer than the oldest chain that it may be on. */
const VAULT_SETTINGS = { evmVersion: "paris" };

/** The compiler's output for one file. */
export function compile(url, settings = {}) {
  const input = {
    language: "Solidity",
    sources: { source: { content: readFileSync(url, "utf8") } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: {
        "*": { "": ["ast"], "*": ["abi", "evm.bytecode", "evm.deployedBytecode"] },
      },
      ...settings,
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  // Warnings too: the contracts have none.
  if (output.errors !== undefined) {
    throw new Error(output.errors.map((error) => error.formattedMessage).join("\n"));
  }
  return { contracts: output.contracts.source, ast: output.sources.source.ast };
}

export function compileVault() {
  return compile(new URL("./Vault.sol", import.meta.url), VAULT_SETTINGS);
}

const VERSION = solc.version().split("+")[0];

function vaultText() {
  const { abi, evm } = compileVault().contracts.Vault;
  const entries = abi.map((entry) => `  ${JSON.stringify(entry)},\n`);
  return `/** Written by contracts/compile.mjs from Vault.sol with solc ${VERSION}. */
// biome-ignore-all format: one line per entry

export const VAULT_ABI = [\n${entries.join("")}] as const;

/** Creation code; the encoded arguments of the constructor follow it. */
export const VAULT_BYTECODE =\n  "0x${evm.bytecode.object}";

/** The code on the chain: the same for every vault. */
export const VAULT_CODE =\n  "0x${evm.deployedBytecode.object}";
`;
}

function tokensText() {
  const { contracts } = compile(new URL("../src/testing/contracts/tokens.sol", import.meta.url));
  const entries = Object.entries(contracts).map(
    ([name, { evm }]) => `  ${name}:\n    "0x${evm.bytecode.object}",\n`,
  );
  return `/** Written by contracts/compile.mjs from tokens.sol with solc ${VERSION}. */\n
export const BYTECODE = {\n${entries.join("")}} as const;\n`;
}

const TARGETS = [
  [new URL("../src/vault/vault-artifact.ts", import.meta.url), vaultText],
  [new URL("../src/testing/contracts/bytecode.ts", import.meta.url), tokensText],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [target, text] of TARGETS) {
    if (!process.argv.includes("--check")) writeFileSync(target, text());
    else if (readFileSync(target, "utf8") !== text()) process.exitCode = 1;
  }
}
