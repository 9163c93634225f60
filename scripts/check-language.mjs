#!/usr/bin/env node
/**
 * Rejects words that a reader has to decode, in comments, strings, identifiers and docs.
 *
 * Each entry is a pattern of lower-case words and the plain alternative. Before matching, camelCase
 * and SNAKE_CASE are split into words and line breaks inside comments count as spaces. The list is
 * short on purpose: it holds words that came back in review, not every word that could be better.
 */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const TICS = [
  ["beside", "next to, compared with, during"],
  ["anew", "again; rebuilt, reloaded"],
  ["under way", "in flight, running, pending"],
  ["whoever", "any client, the caller"],
  ["(?:hears?|heard) of", "receives, learns of"],
  ["(?:is|are|was|were|been|being|as|when|if|once|unless) told", "receives, is notified, is given"],
  ["house", "the name of the component, such as HTTP server"],
  ["doors?", "the name of the component, such as guard or entry point"],
  ["desks?", "the name of the component, such as client or handler"],
  ["shel(?:f|ves)", "buffer, cache, table"],
  ["purses?", "budget, balance"],
  ["comings", "arrivals, connections"],
  ["hast(?:e|y)", "urgent, priority"],
  ["(?:gives?|gave|given|giving) way", "yields"],
  ["(?:of its own accord|by itself|by themselves)", "automatically, alone, unprompted"],
  ["at once", "immediately, in one batch, concurrently"],
  ["so many", "a number, a name, or a limit"],
  ["none of its own", "no ... "],
  ["what it holds", "its content, its size"],
  ["a word for", "a name for"],
  ["look for the dead", "close silent sockets"],
];

const EXTENSIONS = new Set([".ts", ".tsx", ".mjs", ".md"]);
const SKIPPED_FOLDERS = new Set(["node_modules", "dist"]);
/** This list and its test must name the words. */
const SKIPPED_FILES = /^check-language(?:\.test)?\.mjs$/;

/** What may separate two words of one phrase: spaces, line breaks and the comment marks after them. */
const GAP = "[\\s*/]+";
const PATTERNS = TICS.map(([words, plain]) => {
  const source = words.replaceAll(" ", GAP);
  return { pattern: new RegExp(`(?<![a-z])${source}(?![a-z])`, "g"), plain };
});

/** One line per tic in the text: `name:line: "word": plain alternative`. */
export function ticsIn(name, text) {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
  const found = PATTERNS.flatMap(({ pattern, plain }) =>
    [...words.matchAll(pattern)].map(({ index, 0: match }) => ({
      line: words.slice(0, index).split("\n").length,
      message: `"${match.replaceAll(/[\s*/]+/g, " ")}": ${plain}`,
    })),
  );
  return found.sort((a, b) => a.line - b.line).map((tic) => `${name}:${tic.line}: ${tic.message}`);
}

function checkLanguage(root) {
  return filesIn(root).flatMap((file) => {
    const name = relative(root, file).split(sep).join("/");
    return ticsIn(name, readFileSync(file, "utf8")).concat(
      ticsIn(name, name).map((tic) => tic.replace(/:1: /, ": file name: ")),
    );
  });
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".") || SKIPPED_FOLDERS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return EXTENSIONS.has(extname(entry.name)) && !SKIPPED_FILES.test(entry.name) ? [path] : [];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(dirname(process.argv[1]), "..");
  const [part = ""] = process.argv.slice(2);
  const tics = checkLanguage(root).filter((tic) => tic.startsWith(part));
  for (const tic of tics) console.error(tic);
  process.exitCode = tics.length === 0 ? 0 : 1;
}
