/**
 * Which ways the branches of Vault.sol went, by the traces of transactions. A branch is an `if`, a loop, a
 * `? :`, `&&` or `||` of the source; the compiler's source map tells which jumps are its own.
 */

import type { Hex } from "viem";
// @ts-expect-error: a script without types
import { compileVault } from "../../../contracts/compile.mjs";
import type { EvmNode } from "../../testing/evm-node.js";

const BRANCHES = ["IfStatement", "ForStatement", "Conditional"];

interface Step {
  readonly pc: number;
  readonly op: string;
  readonly depth: number;
}

/** Jumps by program counter: the source range of each. */
type Jumps = ReadonlyMap<number, string>;

export function vaultBranches() {
  const { contracts, ast } = compileVault();
  const { bytecode, deployedBytecode } = contracts.Vault.evm;
  const jumps = { creation: jumpsOf(bytecode), code: jumpsOf(deployedBytecode) };
  const taken = new Map<string, Set<boolean>>();
  for (const { src } of branchesOf(ast)) taken.set(rangeOf(src), new Set());

  const follow = (steps: readonly Step[], own: Jumps): void => {
    for (const [i, { pc, op, depth }] of steps.entries()) {
      // The vault calls tokens, which call the vault: odd depths are the vault's.
      if (op !== "JUMPI" || depth % 2 === 0) continue;
      const next = steps[i + 1];
      if (next?.depth === depth) taken.get(own.get(pc) ?? "")?.add(next.pc === pc + 1);
    }
  };
  return {
    count: taken.size,
    async add(node: EvmNode, hash: Hex): Promise<void> {
      const options = { disableMemory: true, disableStack: true, disableStorage: true };
      const trace = Object(await node.rpc("debug_traceTransaction", [hash, options]));
      const transaction = Object(await node.rpc("eth_getTransactionByHash", [hash]));
      follow(trace.structLogs, transaction.to === null ? jumps.creation : jumps.code);
    },
    /** The source of each branch that did not go both ways. */
    missing(): readonly string[] {
      return branchesOf(ast)
        .filter(({ src }) => taken.get(rangeOf(src))?.size !== 2)
        .map(
          ({ nodeType, src }) => `${nodeType} at ${src}: ${[...(taken.get(rangeOf(src)) ?? [])]}`,
        );
    },
  };
}

/** The jumps of a code by program counter. */
function jumpsOf(code: { readonly object: string; readonly sourceMap: string }): Jumps {
  const bytes = Buffer.from(code.object, "hex");
  const jumps = new Map<number, string>();
  let [start, length] = ["", ""];
  let pc = 0;
  for (const entry of code.sourceMap.split(";")) {
    const [s = "", l = ""] = entry.split(":");
    if (s !== "") start = s;
    if (l !== "") length = l;
    const op = bytes[pc]!;
    if (op === 0x57) jumps.set(pc, `${start}:${length}`);
    // PUSH1 to PUSH32 have operands.
    pc += op >= 0x60 && op <= 0x7f ? op - 0x5e : 1;
  }
  return jumps;
}

interface AstNode {
  readonly nodeType: string;
  readonly src: string;
  readonly operator?: string;
}

function branchesOf(node: unknown): readonly AstNode[] {
  if (Array.isArray(node)) return node.flatMap(branchesOf);
  if (typeof node !== "object" || node === null) return [];
  const inner = Object.values(node).flatMap(branchesOf);
  return isBranch(node) ? [node, ...inner] : inner;
}

function isBranch(node: object): node is AstNode {
  if (!("nodeType" in node) || !("src" in node)) return false;
  if (BRANCHES.includes(String(node.nodeType))) return true;
  return "operator" in node && (node.operator === "&&" || node.operator === "||");
}

function rangeOf(src: string): string {
  return src.split(":").slice(0, 2).join(":");
}
