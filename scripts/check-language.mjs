#!/usr/bin/env node
/**
 * Rejects sentences of more than 30 words in docs/*.md: a reader should not have to hold a whole paragraph.
 *
 * Code in fences is passed over; inline code and the text of a link count as they are read, code as one
 * word. A cell of a table, a heading and an item of a list are sentences of their own, and so are the parts of
 * a cell that semicolons divide. A list of eight things or more, such as the fields of a format, is no sentence.
 */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_WORDS = 30;
const LIST_COMMAS = 7;

const FENCE = /^\s*```/;
const LEAD = /^\s*(?:[-*] |\d+\. |#+ |> )?\s*/;
/** What begins a text of its own: an item, a heading, a quotation, a row of a table, a comment. */
const BEGINS = /^\s*(?:[-*] |\d+\. |#+ |> |\||<!--)/;
/** What no line continues. */
const ENDS = /^\s*(?:#+ |\||<!--)/;
const END = /(?<=[.!?]["”’)*_]*)\s+(?=\S)/;

/** One line per sentence that is too long: `name:line: N words: its beginning`. */
export function longSentences(name, page) {
  return textsOf(page).flatMap(({ line, text }) =>
    sentencesIn(text).flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      const isList = sentence.split(",").length > LIST_COMMAS;
      if (words <= MAX_WORDS || isList) return [];
      return [`${name}:${line}: ${words} words: ${sentence.slice(0, 60)}…`];
    }),
  );
}

/** Paragraphs, items, headings and rows, each as one line, with the line where it begins. */
function textsOf(page) {
  const texts = [];
  let isCode = false;
  let isOpen = false;
  for (const [i, text] of page.split("\n").entries()) {
    if (FENCE.test(text)) isCode = !isCode;
    if (isCode || FENCE.test(text) || text.trim() === "" || /^\s*<!--/.test(text)) {
      isOpen = false;
      continue;
    }
    if (isOpen && !BEGINS.test(text)) texts.at(-1).text += ` ${text.trim()}`;
    else texts.push({ line: i + 1, text });
    isOpen = !ENDS.test(text);
  }
  return texts;
}

function sentencesIn(line) {
  const read = line
    .replaceAll(/`[^`]*`/g, "code")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("\\|", "");
  const cells = /^\s*\|/.test(read) ? read.split(/[|;]/) : [read];
  return cells.flatMap((cell) => cell.replace(LEAD, "").trim().split(END));
}

function checkLanguage(root) {
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  return pages.flatMap((page) => {
    const name = `docs/${page}`;
    return longSentences(name, readFileSync(join(root, name), "utf8"));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = checkLanguage(resolve(dirname(process.argv[1]), ".."));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
