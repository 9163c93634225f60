/**
 * `perpgate bridge`, `cohort`, `market` and `upgrade`: changes of a running venue, through its control
 * socket.
 */

import { resolve } from "node:path";
import { StartError, UsageError } from "../cli/start-error.js";
import { type BridgeChange, PAUSE_SCOPES } from "../serve/bridge/bridge-control.js";
import { type CohortChange, isCohortChange, isCohortShown } from "../serve/cohort-control.js";
import { askControl, type ControlRequest } from "../serve/control-socket.js";
import type { MarketChange } from "../serve/market-control.js";
import { isSteppedDown } from "../serve/step-down-control.js";
import { dataFolderOf } from "./data-option.js";

interface ControlOptions {
  readonly data?: string;
  readonly json?: boolean;
}

export async function changeBridge(
  action: string,
  target: string | undefined,
  options: ControlOptions,
): Promise<number> {
  const change = changeOf(action, target ?? "");
  await send(options, { bridge: change });
  print(options, change, sentenceOf(change));
  return 0;
}

export async function changeCohort(
  stage: string,
  options: ControlOptions & {
    readonly allow: readonly string[];
    readonly disallow: readonly string[];
  },
): Promise<number> {
  const { allow, disallow } = options;
  if (stage === "show") return showCohort(options);
  const change = { stage, allow, disallow };
  if (!isCohortChange(change)) {
    throw new UsageError(
      "a stage is closed, allowlist or open (or show), an address 40 hex digits",
    );
  }
  await send(options, { cohort: change });
  print(options, change, `stage ${change.stage}`);
  if (options.json !== true) process.stdout.write(STAGE_REMARKS[change.stage]);
  return 0;
}

/** What the stage does to the book; makers are accounts like any other. */
const STAGE_REMARKS: Readonly<Record<CohortChange["stage"], string>> = {
  open: "",
  allowlist:
    "  an order of anyone else, a bot's too, is canceled where a trade would open with it\n",
  closed:
    "  nobody may open, makers and bots included: an order that rests is canceled where a trade would\n" +
    "  open with it, so those who close find nobody but others who close. To keep a book for them, let\n" +
    "  its makers open: perpgate cohort allowlist --allow ADDRESS (docs/bots.md names the bots)\n",
};

async function showCohort(options: ControlOptions): Promise<number> {
  const shown = await send(options, { showCohort: true });
  if (!isCohortShown(shown))
    throw new StartError("the perpgate that is running is of another release");
  const { stage, allow } = shown;
  const lines = [`stage ${stage}`, `${allow.length} on the list`, ...allow];
  process.stdout.write(
    options.json === true ? `${JSON.stringify(shown)}\n` : `${lines.join("\n")}\n`,
  );
  return 0;
}

export async function changeMarket(
  symbol: string,
  action: string,
  options: ControlOptions & { readonly price?: number },
): Promise<number> {
  const change = marketChangeOf(symbol, action, options.price);
  await send(options, { market: change });
  print(options, change, `${symbol}: ${MARKET_SENTENCES[change.action]}`);
  return 0;
}

const MARKET_SENTENCES: Readonly<Record<MarketChange["action"], string>> = {
  reduceOnly: "reduce-only",
  halt: "halted",
  resume: "resumed, and waits for a fresh index",
  settle: "settled, or being settled",
};

function marketChangeOf(symbol: string, action: string, price?: number): MarketChange {
  if (action === "settle") {
    if (price === undefined) throw new UsageError("settle needs --price");
    return { symbol, action, price };
  }
  if (price !== undefined) throw new UsageError("--price is for settle");
  switch (action) {
    case "reduce-only":
      return { symbol, action: "reduceOnly" };
    case "halt":
    case "resume":
      return { symbol, action };
    default:
      throw new UsageError("an action is reduce-only, halt, resume or settle");
  }
}

export async function upgradeCommand(options: ControlOptions): Promise<number> {
  const version = await send(options, { upgrade: true });
  print(options, { version }, `engine version ${version} is in force`);
  return 0;
}

export async function configureCommand(
  options: ControlOptions & { readonly config: string },
): Promise<number> {
  const file = resolve(options.config);
  await send(options, { configure: file });
  print(options, { file }, `the configuration of ${file} is in force`);
  return 0;
}

export async function leave(options: ControlOptions): Promise<number> {
  await send(options, { leave: true });
  const sentence = "the gateway drains its requests and leaves";
  process.stdout.write(
    options.json === true ? `${JSON.stringify({ leaves: true })}\n` : `${sentence}\n`,
  );
  return 0;
}

export async function stepDownCommand(
  options: ControlOptions & { readonly to?: string },
): Promise<number> {
  const done = await send(options, { stepDown: options.to ?? "" });
  if (!isSteppedDown(done))
    throw new StartError("the perpgate that is running is of another release");
  const { leader, epoch, tookMs } = done;
  const sentence = `${leader} leads, epoch ${epoch}, after ${tookMs} ms`;
  process.stdout.write(options.json === true ? `${JSON.stringify(done)}\n` : `${sentence}\n`);
  return 0;
}

function send(options: ControlOptions, request: ControlRequest): Promise<unknown> {
  return askControl(dataFolderOf(options), request);
}

function print({ json }: ControlOptions, change: object, sentence: string): void {
  process.stdout.write(json === true ? `${JSON.stringify(change)}\n` : `${sentence}, in the log\n`);
}

function changeOf(action: string, target: string): BridgeChange {
  switch (action) {
    case "pause":
    case "resume": {
      const scope = PAUSE_SCOPES.find((name) => name.toLowerCase() === target.toLowerCase());
      if (scope === undefined) {
        throw new UsageError(`a chain or token is one of ${PAUSE_SCOPES.join(", ")}`);
      }
      return { action, scope };
    }
    case "rejudge":
    case "settle": {
      const depositId = Number(target);
      if (!/^[1-9][0-9]*$/.test(target) || !Number.isSafeInteger(depositId)) {
        throw new UsageError("a deposit is named by its number");
      }
      return { action, depositId };
    }
    case "commit":
      if (target !== "") throw new UsageError("commit takes no target");
      return { action };
    default:
      throw new UsageError("an action is pause, resume, rejudge, settle or commit");
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
    case "commit":
      return "what the venue owes is counted; the commitment follows";
  }
}
