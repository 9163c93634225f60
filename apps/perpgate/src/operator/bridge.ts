/** `perpgate bridge`: what the operator decides about deposits, changed while the venue runs. */

import { resolve } from "node:path";
import { type BridgeChange, PAUSE_SCOPES } from "../bridge/bridge-control.js";
import type { Arguments, Command } from "../cli/command.js";
import { askControl } from "../serve/control-socket.js";
import { DEFAULT_SETTINGS } from "../serve/settings.js";

export const BRIDGE: Command = {
  usage: [
    "bridge <pause|resume> <CHAIN|TOKEN> [--data DIR]",
    "bridge <rejudge|settle> DEPOSIT [--data DIR]",
  ],
  about: `Pauses or resumes the credits and rejections of a chain or token, lets attestors judge a
rejected deposit again, or settles a credit whose transaction left its chain. The venue that serves
the data folder must be running; the change is in its log, and stays.`,
  options: {
    data: { kind: "text", value: "DIR", help: "the venue's data folder (.data)  [PERPGATE_DATA]" },
    json: { kind: "flag", help: "JSON for programs" },
  },
  examples: [
    ["bridge pause ethereum", "nothing of Ethereum is credited or rejected until it is resumed"],
    ["bridge rejudge 48213", "after a wrong configuration rejected a valid deposit"],
  ],
  run: bridge,
};

async function bridge(args: Arguments): Promise<number> {
  const action = args.positional(0, "action", 2);
  const change = changeOf(args, action, args.positional(1, "target", 2));
  const folder = args.text("data") ?? process.env.PERPGATE_DATA ?? DEFAULT_SETTINGS.data;
  await askControl(resolve(folder), { bridge: change });
  if (args.has("json")) process.stdout.write(`${JSON.stringify(change)}\n`);
  else process.stdout.write(`${sentenceOf(change)}, in the log\n`);
  return 0;
}

function changeOf(args: Arguments, action: string, target: string): BridgeChange {
  switch (action) {
    case "pause":
    case "resume": {
      const scope = PAUSE_SCOPES.find((name) => name.toLowerCase() === target.toLowerCase());
      if (scope === undefined)
        throw args.fail(`a chain or token is one of ${PAUSE_SCOPES.join(", ")}`);
      return { action, scope };
    }
    case "rejudge":
    case "settle": {
      const depositId = Number(target);
      if (!/^[1-9][0-9]*$/.test(target) || !Number.isSafeInteger(depositId)) {
        throw args.fail("a deposit is named by its number");
      }
      return { action, depositId };
    }
    default:
      throw args.fail("an action is pause, resume, rejudge or settle");
  }
}

function sentenceOf(change: BridgeChange): string {
  switch (change.action) {
    case "pause":
      return `deposits of ${change.scope} paused`;
    case "resume":
      return `deposits of ${change.scope} resumed`;
    case "rejudge":
      return `deposit ${change.depositId} is judged again`;
    case "settle":
      return `deposit ${change.depositId} settled`;
  }
}
