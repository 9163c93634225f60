/**
 * For `node --import`: loads TypeScript sources (see source-hooks.mjs), and has their lines in stack traces.
 *
 * Vitest sets `Error.prepareStackTrace`, which turns Node's own source maps off and knows only the modules
 * that went through Vite. Whatever is set there gets frames whose positions are those of the source.
 */

import { findSourceMap, register } from "node:module";

register("./source-hooks.mjs", import.meta.url);

const mapped = new WeakSet();
let prepare = Error.prepareStackTrace;

Object.defineProperty(Error, "prepareStackTrace", {
  configurable: true,
  get: () => prepare,
  set: (value) => {
    prepare = typeof value !== "function" || mapped.has(value) ? value : withSources(value);
  },
});

function withSources(format) {
  const formatMapped = (error, frames) => format(error, frames.map(inSource));
  mapped.add(formatMapped);
  return formatMapped;
}

function inSource(frame) {
  const file = frame.getFileName();
  if (!file?.endsWith(".ts")) return frame;
  const line = (frame.getLineNumber() ?? 1) - 1;
  const entry = findSourceMap(file)?.findEntry(line, (frame.getColumnNumber() ?? 1) - 1);
  if (entry?.originalLine === undefined) return frame;
  const [atLine, atColumn] = [entry.originalLine + 1, entry.originalColumn + 1];
  const own = new Map([
    ["getLineNumber", () => atLine],
    ["getColumnNumber", () => atColumn],
    ["toString", () => String(frame).replace(/:\d+:\d+(?=\)?$)/, `:${atLine}:${atColumn}`)],
  ]);
  return new Proxy(frame, {
    get: (target, name) => own.get(name) ?? bound(target, target[name]),
  });
}

/** Methods of a frame work on the frame itself only. */
function bound(frame, value) {
  return typeof value === "function" ? value.bind(frame) : value;
}
