import { expect, test } from "vitest";
import { longSentences } from "./check-language.mjs";

const words = (count) => Array(count).fill("word").join(" ");

test.each([
  ["a sentence", `${words(31)}.`],
  ["the second of a line", `Short. ${words(31)}.`],
  ["an item of a list", `- ${words(31)}`],
  ["a sentence on two lines", `${words(20)}\n${words(11)}.`],
  ["an item on two lines", `- ${words(20)}\n  ${words(11)}.`],
  ["a cell of a table", `| a | ${words(31)} |`],
  ["with a link, whose text counts", `${words(29)} [two words](https://example.org/a-b).`],
])("%s of 31 words: rejected with its place", (_, text) => {
  expect(longSentences("a.md", `One.\n\n${text}`)).toEqual([
    expect.stringMatching(/^a\.md:3: 31 words: /),
  ]);
});

test.each([
  ["30 words", `${words(30)}.`],
  ["two sentences", `${words(20)}. ${words(20)}.`],
  ["two items", `- ${words(20)}\n- ${words(20)}`],
  ["a heading before a sentence", `# ${words(20)}\n${words(20)}.`],
  ["code in a fence", `\`\`\`\n${words(40)}\n\`\`\``],
  ["inline code, which is one word", `${words(29)} \`${words(9)}\`.`],
  ["fields in a cell", `| a | ${words(20)}; ${words(20)} |`],
  ["a list of fields", `${Array(9).fill(words(4)).join(", ")}.`],
])("%s: accepted", (_, text) => {
  expect(longSentences("a.md", text)).toEqual([]);
});
