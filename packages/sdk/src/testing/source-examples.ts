/**
 * The public functions and methods of the sources, and the `@example` of each.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync } from "vite";

export interface Example {
  /** File and line. */
  readonly at: string;
  readonly code: string;
}

export interface PublicFunction {
  /** Such as `Session.placeOrder`. */
  readonly name: string;
  readonly doc: string | undefined;
}

type Program = ReturnType<typeof parseSync>["program"];
type Class = Extract<Program["body"][number], { body: { type: "ClassBody" } }>;

interface Source {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  /** Doc comments, in order. */
  readonly docs: readonly { readonly start: number; readonly end: number; readonly text: string }[];
}

export function readSources(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /^(?!testing).*(?<!\.test)\.ts$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const { program, comments } = parseSync(name, text);
      const docs = comments
        .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
        .map(({ start, end, value }) => ({ start, end, text: value }));
      return { file: relative(folder, join(folder, name)), text, program, docs };
    });
}

/** Every `@example` of every doc comment. */
export function examplesOf(sources: readonly Source[]): Example[] {
  return sources.flatMap(({ file, text, docs }) =>
    docs.flatMap((doc) => {
      const line = text.slice(0, doc.start).split("\n").length;
      const plain = doc.text.replaceAll(/^\s*\* ?/gm, "");
      return plain
        .split(/^@(?=\w)/m)
        .filter((tag) => tag.startsWith("example"))
        .map((tag) => ({ at: `${file}:${line}`, code: tag.slice("example".length).trim() }));
    }),
  );
}

/** Exported functions, and public methods of exported classes and their bases. */
export function publicFunctionsOf(sources: readonly Source[]): PublicFunction[] {
  const names = exportedNames(sources);
  const classes = new Map<string, { readonly source: Source; readonly node: Class }>();
  const found: PublicFunction[] = [];
  for (const source of sources) {
    for (const statement of source.program.body) {
      if (statement.type !== "ExportNamedDeclaration") continue;
      const { declaration } = statement;
      if (declaration?.type === "ClassDeclaration" && declaration.id !== null) {
        classes.set(declaration.id.name, { source, node: declaration });
      }
      if (declaration?.type === "FunctionDeclaration" && names.has(declaration.id?.name ?? "")) {
        found.push({ name: declaration.id?.name ?? "", doc: docBefore(source, statement.start) });
      }
    }
  }
  for (const name of names) {
    for (let at = classes.get(name); at !== undefined; ) {
      found.push(...methodsOf(at.node, at.source));
      const { superClass } = at.node;
      at = superClass?.type === "Identifier" ? classes.get(superClass.name) : undefined;
    }
  }
  return found;
}

function methodsOf({ id, body }: Class, source: Source): PublicFunction[] {
  return body.body.flatMap((member) => {
    const isMethod = member.type === "MethodDefinition" && member.kind === "method";
    // An operation as a method: `readonly markets: Read<Market[]> = this.read(getMarkets)`.
    const isDerived =
      member.type === "PropertyDefinition" && member.value?.type === "CallExpression";
    if (!isMethod && !isDerived) return [];
    if (member.accessibility === "private" || member.accessibility === "protected") return [];
    const name = member.key.type === "Identifier" ? member.key.name : "";
    const doc = docBefore(source, member.start);
    return doc?.includes("@internal") === true ? [] : [{ name: `${id?.name}.${name}`, doc }];
  });
}

/** The doc comment right before a position, with nothing but space between. */
function docBefore({ docs, text }: Source, start: number): string | undefined {
  const doc = docs.findLast(({ end }) => end <= start);
  return doc !== undefined && text.slice(doc.end, start).trim() === "" ? doc.text : undefined;
}

function exportedNames(sources: readonly Source[]): Set<string> {
  const index = sources.find(({ file }) => file === "index.ts");
  const names = new Set<string>();
  for (const statement of index?.program.body ?? []) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { exported } of statement.specifiers) {
      if (exported.type === "Identifier") names.add(exported.name);
    }
  }
  return names;
}
