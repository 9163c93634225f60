import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FILES = {
  client: ["client.ts", "market-reader.ts"],
  session: ["session.ts", "account-reader.ts", "account-trader.ts"],
  "client.stream": ["streams/public-stream.ts"],
  "session.stream": ["streams/session-stream.ts"],
} as const;

/** Public methods by their declarations: two spaces, a name, and a comment before it that is not internal. */
function methodsOf(file: string): string[] {
  const source = readFileSync(new URL(file, import.meta.url), "utf8");
  const text = source.slice(source.search(/^export (?:abstract )?class/m));
  const found = text.matchAll(/\*\/\n {2}(?:async )?([a-z]\w*)(?:<[^>]*>)?\(/g);
  return [...found].flatMap(({ 1: name = "", index }) => {
    const comment = text.slice(text.lastIndexOf("/**", index), index);
    return name === "constructor" || comment.includes("@internal") ? [] : [name];
  });
}

test("README: one line for every method", () => {
  const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const missing = Object.entries(FILES).flatMap(([owner, files]) =>
    files
      .flatMap(methodsOf)
      .map((name) => `| \`${owner}.${name}`)
      .filter((line) => !page.includes(line)),
  );
  expect(missing).toEqual([]);
});
