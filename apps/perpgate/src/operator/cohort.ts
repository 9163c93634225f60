/** `perpgate cohort`: who may open positions, changed while the venue runs. */

import { resolve } from "node:path";
import type { Arguments, Command } from "../cli/command.js";
import { isCohortChange } from "../cohort-control.js";
import { askControl } from "../serve/control-socket.js";
import { DEFAULT_SETTINGS } from "../serve/settings.js";

export const COHORT: Command = {
  usage: ["cohort <closed|allowlist|open> [--allow ADDRESS]… [--disallow ADDRESS]… [--data DIR]"],
  about: `Changes who may open positions: nobody, those on the list, everyone. Closing always works. The
venue that serves the data folder must be running; the change is in its log, and stays.`,
  options: {
    allow: { kind: "list", value: "ADDRESS", help: "put on the list; may be repeated" },
    disallow: { kind: "list", value: "ADDRESS", help: "take off the list; may be repeated" },
    data: { kind: "text", value: "DIR", help: "the venue's data folder (.data)  [PERPGATE_DATA]" },
    json: { kind: "flag", help: "JSON for programs" },
  },
  examples: [
    ["cohort open", "everyone may trade"],
    [
      "cohort allowlist --allow 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "those on the list, and this one",
    ],
  ],
  run: cohort,
};

async function cohort(args: Arguments): Promise<number> {
  const stage = args.positional(0, "stage", 1);
  const change = { stage, allow: args.list("allow"), disallow: args.list("disallow") };
  if (!isCohortChange(change)) {
    throw args.fail("a stage is closed, allowlist or open, an address 40 hex digits");
  }
  const folder = args.text("data") ?? process.env.PERPGATE_DATA ?? DEFAULT_SETTINGS.data;
  await askControl(resolve(folder), { cohort: change });
  if (args.has("json")) process.stdout.write(`${JSON.stringify(change)}\n`);
  else process.stdout.write(`stage ${change.stage}, in the log\n`);
  return 0;
}
