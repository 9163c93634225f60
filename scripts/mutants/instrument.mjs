/** A source of the engine with all its mutants, by Stryker's instrumenter. */
import { readFileSync } from "node:fs";
import { Instrumenter } from "@stryker-mutator/instrumenter";

/** Texts and shapes of objects: the compiler finds those. */
export const EXCLUDED = ["StringLiteral", "ObjectLiteral", "ArrayDeclaration", "Regex"];

const SILENT = { debug() {}, info() {}, isDebugEnabled: () => false };
const OPTIONS = { plugins: null, excludedMutations: EXCLUDED, ignorers: [], noHeader: true };

/** Lines and columns of the mutants count from 0. */
export async function instrumented(name) {
  const source = { name, mutate: true, content: readFileSync(name, "utf8") };
  const { mutants, files } = await new Instrumenter(SILENT).instrument([source], OPTIONS);
  return {
    mutants: mutants.filter(({ status }) => status !== "Ignored"),
    content: withSwitch(files[0].content),
  };
}

/** Stryker's own switch compares texts and counts everything; here a compiled number compares two. */
function withSwitch(content) {
  return content
    .replaceAll(
      /stryMutAct_9fa48\("(\d+)"\)/g,
      "(globalThis.mutants.active === $1 && mutants.hit())",
    )
    .replaceAll(/stryCov_9fa48\(([^)]*)\)/g, (_, ids) => {
      return `(globalThis.mutants.counts && mutants.cover(${ids.replaceAll('"', "")}))`;
    });
}
