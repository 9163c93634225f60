/**
 * Hooks with which Node loads the packages' TypeScript sources: `./name.js` in a source is `./name.ts`,
 * and types are removed while a module is loaded. Package names lead to sources with the condition
 * `perpgate-source`.
 */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "rolldown/utils";

const isSource = (url) => url !== undefined && /\.ts(\?|$)/.test(url);

export async function resolve(specifier, context, next) {
  if (/^\.\.?\/.*\.js$/.test(specifier) && isSource(context.parentURL)) {
    const url = new URL(specifier.replace(/\.js$/, ".ts"), context.parentURL);
    if (existsSync(url)) return { url: url.href, format: "module", shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!isSource(url)) return next(url, context);
  const path = fileURLToPath(url);
  const { code, map, errors } = transformSync(path, readFileSync(path, "utf8"), {
    target: "es2023",
    sourcemap: true,
  });
  if (errors.length > 0) throw new SyntaxError(errors.map(({ message }) => message).join("\n"));
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
  return { format: "module", shortCircuit: true, source };
}
