/** `perpgate cohort <stage> [--allow ADDRESS]… [--disallow ADDRESS]… [--data DIR]` */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { isCohortChange } from "./cohort-control.js";
import { askControl } from "./control-socket.js";
import { DEFAULT_SETTINGS } from "./settings.js";
import { StartError } from "./start-error.js";

const USAGE =
  "perpgate cohort <closed|allowlist|open> [--allow ADDRESS]… [--disallow ADDRESS]… [--data DIR]";

export async function cohortCommand(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const [stage, ...rest] = positionals;
  const { allow = [], disallow = [] } = values;
  const change = { stage, allow, disallow };
  if (rest.length > 0 || !isCohortChange(change)) throw new StartError(`usage: ${USAGE}`);
  const folder = values.data ?? process.env.PERPGATE_DATA ?? DEFAULT_SETTINGS.data;
  await askControl(resolve(folder), { cohort: change });
  process.stdout.write(`stage ${change.stage}, in the log\n`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        allow: { type: "string", multiple: true },
        disallow: { type: "string", multiple: true },
        data: { type: "string" },
      },
    });
  } catch {
    throw new StartError(`usage: ${USAGE}`);
  }
}
