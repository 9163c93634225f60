/** That the page's texts are in the tables, and that the tables have no others. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";
import { de } from "./de.js";
import { en } from "./en.js";
import { countOf, t } from "./texts.js";

const PAGE = join(import.meta.dirname, "..");

/** `check/` is a page of its own, which is in English; `testing/` is of the tests. */
const SOURCES = readdirSync(PAGE, { recursive: true, encoding: "utf8" })
  .filter((name) => /^(?!text\/|check\/|testing\/).*(?<!\.test)\.tsx?$/.test(name))
  .sort()
  .map((name) => parsed(name, readFileSync(join(PAGE, name), "utf8")));

function parsed(name: string, text: string) {
  return { name, program: parseSync(name, text).program };
}

/** Names, units and samples: the same in each language. */
const SAME = new Set([
  "API",
  "TradingView",
  "Lightweight Charts™",
  "Perpgate",
  "Esc",
  "MA",
  "EMA 20",
  "BB",
  "VWAP",
  "RSI 14",
  "TP",
  "SL",
  "CSV",
  "O",
  "H",
  "L",
  "C",
  "0x…",
  "ms",
]);

/** What a wallet shows in front of a signature, which the venue and other pages know by its words. */
const SIGNED = new Set(["Make a key file that trades on Perpgate from another machine."]);

/** Properties and attributes whose value the browser reads, and no person. */
const NOT_SHOWN =
  /^(className|d|viewBox|type|role|key|id|href|rel|target|name|inputMode|autoComplete|accept|data-.*|aria-(haspopup|live|hidden|orientation|busy|current)|method|statement|outcome)$/;

type Node = { readonly type: string; readonly start: number; readonly end: number };

/** Literal texts of a source that a person would read. */
function literalsIn({ name, program }: (typeof SOURCES)[number]): string[] {
  const found: string[] = [];
  const hidden: Node[] = [];
  const texts: (Node & { readonly text: string; readonly isMarkup: boolean })[] = [];
  const hide = (...nodes: readonly (Node | null | undefined)[]) => {
    for (const node of nodes) if (node !== null && node !== undefined) hidden.push(node);
  };
  new Visitor({
    ImportDeclaration: hide,
    ExportNamedDeclaration: ({ source }) => hide(source),
    ImportExpression: hide,
    // Errors of the code are for its authors; those that are shown take their text from the table.
    ThrowStatement: hide,
    NewExpression: (node) => {
      if (node.callee.type === "Identifier" && /Error$|^WalletCanceled$/.test(node.callee.name))
        hide(node);
    },
    BinaryExpression: ({ operator, left, right }) => {
      if (/^[!=]==$|^in$/.test(operator)) hide(left, right);
    },
    SwitchCase: ({ test: value }) => hide(value),
    TSLiteralType: hide,
    CallExpression: ({ callee, arguments: given }) => {
      const called = callee.type === "MemberExpression" ? callee.property : callee;
      if (NOT_TOLD.test(nameOf(called))) hide(...given);
    },
    JSXAttribute: ({ name: attribute, value }) => {
      if (NOT_SHOWN.test(nameOf(attribute))) hide(value);
    },
    Property: ({ key, value }) => {
      hide(key);
      if (NOT_SHOWN.test(nameOf(key))) hide(value);
    },
    PropertyDefinition: ({ key, value }) => {
      if (NOT_SHOWN.test(nameOf(key))) hide(value);
    },
    AssignmentExpression: ({ left, right }) => {
      if (left.type === "MemberExpression" && NOT_SET.test(nameOf(left.property))) hide(right);
    },
    JSXText: (node) => texts.push({ ...node, text: node.value, isMarkup: true }),
    Literal: (node) => {
      if (typeof node.value === "string")
        texts.push({ ...node, text: node.value, isMarkup: false });
    },
    TemplateElement: (node) =>
      texts.push({ ...node, text: node.value.cooked ?? "", isMarkup: false }),
  }).visit(program);
  for (const { start, end, text, isMarkup } of texts) {
    const words = text.trim().replaceAll(/\s+/g, " ");
    const isHidden = hidden.some((node) => node.start <= start && end <= node.end);
    if (isHidden || SAME.has(words) || SIGNED.has(words)) continue;
    if (isMarkup ? /\p{L}/u.test(words) : READS_LIKE_WORDS.test(words)) {
      found.push(`${name}: ${words}`);
    }
  }
  return found;
}

function nameOf(node: object): string {
  if ("name" in node && typeof node.name === "string") return node.name;
  return "value" in node ? String(node.value) : "";
}

/** Functions whose arguments are selectors, names of events and the like. */
const NOT_TOLD =
  /^(querySelector(All)?|closest|matches|addEventListener|removeEventListener|matchMedia|setAttribute|createElement|getContext|getPropertyValue|press|focus|postMessage|fetch|post|Error)$/;
const NOT_SET = /^(className|font|transform|cursor|type|textBaseline|textAlign)$/;

/** Two words, or one that begins a sentence. */
const READS_LIKE_WORDS = /\p{L}{2,}[,;:.]? +\p{L}|^\p{Lu}\p{Ll}/u;

/** What is read of `t`, such as `orders.cancelAll`; of `words.verbs[side]` it is `words.verbs`. */
function pathsIn({ program }: (typeof SOURCES)[number]): string[] {
  const paths: string[] = [];
  const inner = new Set<unknown>();
  new Visitor({
    MemberExpression: (node) => {
      const path = pathOf(node);
      if (path !== undefined) inner.add(node.object);
      if (path !== undefined && !inner.has(node)) paths.push(path);
    },
  }).visit(program);
  return paths;
}

function readsAtLoad({ name, program }: (typeof SOURCES)[number]): string[] {
  const found: string[] = [];
  let depth = 0;
  const enter = () => {
    depth++;
  };
  const leave = () => {
    depth--;
  };
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    MemberExpression: ({ object }) => {
      if (depth === 0 && object.type === "Identifier" && object.name === "t") found.push(name);
    },
  }).visit(program);
  return found;
}

function subjectsInWords({ name, program }: (typeof SOURCES)[number]): string[] {
  const found: string[] = [];
  const subjects: Node[] = [];
  new Visitor({
    Property: ({ key, value }) => {
      if (nameOf(key) === "subject") subjects.push(value);
    },
    MemberExpression: ({ object, start }) => {
      const isText = object.type === "Identifier" && object.name === "t";
      if (isText && subjects.some((each) => each.start <= start && start < each.end))
        found.push(name);
    },
  }).visit(program);
  return found;
}

interface Member {
  readonly type: string;
  readonly object?: unknown;
  readonly property?: unknown;
  readonly computed?: boolean;
  readonly name?: unknown;
}

function isMember(value: unknown): value is Member {
  return typeof value === "object" && value !== null && "type" in value;
}

function pathOf({ object, property, computed = false }: Member): string | undefined {
  if (computed || !isMember(object) || !isMember(property)) return undefined;
  if (typeof property.name !== "string") return undefined;
  if (object.type === "Identifier") return object.name === "t" ? property.name : undefined;
  const before = object.type === "MemberExpression" ? pathOf(object) : undefined;
  return before === undefined ? undefined : `${before}.${property.name}`;
}

type Table = { readonly [name: string]: unknown };

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null;
}

/** Each text with its path. */
function entriesOf(table: Table, before = ""): (readonly [path: string, text: unknown])[] {
  return Object.entries(table).flatMap(([name, value]) =>
    isTable(value) ? entriesOf(value, `${before}${name}.`) : [[`${before}${name}`, value] as const],
  );
}

test("components: every text that a person reads is in the table", () => {
  expect(SOURCES.length).toBeGreaterThan(100);
  expect(SOURCES.flatMap(literalsIn)).toEqual([]);
});

test("literal texts: markup, attributes, templates and arguments are found, what no person reads is not", () => {
  const literals = (text: string) =>
    literalsIn(parsed("x.tsx", text)).map((each) => each.replace("x.tsx: ", ""));
  expect(literals("const x = <p>one</p>;")).toEqual(["one"]);
  expect(literals('const x = <b title="Two" className="Not shown" />;')).toEqual(["Two"]);
  expect(literals("toasts.show(`Three $" + "{x} of`, 'four words here');")).toEqual([
    "Three",
    "four words here",
  ]);
  expect(
    literals('import a from "Some where"; if (key === "Enter") throw new Error("No x");'),
  ).toEqual([]);
});

test("texts: no module reads one while it is loaded, when the language is not settled", () => {
  expect(SOURCES.flatMap(readsAtLoad)).toEqual([]);
  expect(readsAtLoad(parsed("x.ts", "const A = { a: t.b.c }, b = () => t.b.c;"))).toEqual(["x.ts"]);
});

test("requests: their subject is no text, so that in another language it is the same one", () => {
  expect(SOURCES.flatMap(subjectsInWords)).toEqual([]);
  expect(subjectsInWords(parsed("x.ts", "send({ subject: t.a.b(id), title: t.a.b(id) })"))).toEqual(
    ["x.ts"],
  );
});

test("tables: each text is used, and each path that is used is an area and a text", () => {
  const reads = [...new Set(SOURCES.flatMap(pathsIn))];
  expect(reads.filter((path) => !path.includes("."))).toEqual([]);
  const isUsed = (path: string) =>
    reads.some((read) => path === read || path.startsWith(`${read}.`));
  const paths = entriesOf(en).map(([path]) => path);
  expect(paths.length).toBeGreaterThan(400);
  expect(paths.filter((path) => !isUsed(path))).toEqual([]);
});

test("languages: German has the keys and parameters of English, and no empty text", () => {
  const german = new Map(entriesOf(de));
  for (const [path, text] of entriesOf(en)) {
    const translated = german.get(path);
    expect(typeof translated, path).toBe(typeof text);
    if (typeof text === "function" && typeof translated === "function") {
      expect(translated.length, path).toBe(text.length);
    } else if (text !== "") expect(translated, path).not.toBe("");
  }
  expect([...german.keys()]).toEqual(entriesOf(en).map(([path]) => path));
});

test("plurals: one form for one, another for none and for many", () => {
  const texts = [0, 1, 2].map((count) => countOf(count, t.counts.orders));
  expect(texts).toEqual(["0 orders", "1 order", "2 orders"]);
});
