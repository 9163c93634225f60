/**
 * Loaded with `--import`: makes the process a release that knows engine version 4, whose rules are those
 * of version 3. The table of the rules is changed when its module is loaded, in every thread.
 */
import { register } from "node:module";

const hook = `
const TABLE = /(const RULE_SETS = )(\\[[^\\]]*\\]);/;
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (loaded.format !== "module" || loaded.source === null || loaded.source === undefined) return loaded;
  const text = Buffer.from(loaded.source).toString("utf8");
  if (!TABLE.test(text)) return loaded;
  return { ...loaded, source: text.replace(TABLE, "$1((sets) => [...sets, { ...sets.at(-1), version: 4 }])($2);") };
}
`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
