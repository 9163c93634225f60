import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const CLASSES = {
  client: ["client.ts PerpgateClient", "reads.ts MarketReader"],
  session: ["session.ts Session", "reads.ts AccountReader", "account-trader.ts AccountTrader"],
  "client.stream": ["streams/public-stream.ts PublicStream"],
  "session.stream": ["streams/session-stream.ts SessionStream"],
} as const;

/** Public methods by their declarations: two spaces, a name, and a comment before it that is not internal. */
function methodsOf(place: string): string[] {
  const [file = "", name] = place.split(" ");
  const source = readFileSync(new URL(file, import.meta.url), "utf8");
  const [text = ""] = source.slice(source.indexOf(`class ${name} `)).split("\n}\n");
  const method =
    /\*\/\n {2}(?:(?:async )?([a-z]\w*)(?:<[^>]*>)?\(|readonly (\w+): (?:Named)?Read<)/g;
  const found = text.matchAll(method);
  return [...found].flatMap(({ 1: written, 2: derived, index }) => {
    const comment = text.slice(text.lastIndexOf("/**", index), index);
    const name = written ?? derived ?? "";
    return name === "constructor" || comment.includes("@internal") ? [] : [name];
  });
}

test("README: one line for every method", () => {
  const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const missing = Object.entries(CLASSES).flatMap(([owner, classes]) =>
    classes
      .flatMap(methodsOf)
      .map((name) => `| \`${owner}.${name}`)
      .filter((line) => !page.includes(line)),
  );
  expect(missing).toEqual([]);
});
