/**
 * `perpgate backup`: copies a data folder, also beside a live venue, and verifies the copy.
 *
 * One line on standard output, or with `--json` one object. Exit code 0 if the copy is whole and
 * everything in it agrees, otherwise 1.
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { verify } from "@perpgate/venue";
import { backUp } from "./backup.js";
import { StartError } from "./start-error.js";
import { reportText } from "./verify-command.js";

export const BACKUP_USAGE = "perpgate backup --to DIR [--data DIR] [--json]";

/** Answers the exit code. */
export async function backupCommand(args: readonly string[]): Promise<number> {
  const { data, to, json } = readArguments(args);
  const target = resolve(to);
  const { bytes } = backUp(resolve(data), target);
  const report = await verify(target);
  if (json) process.stdout.write(`${JSON.stringify({ folder: target, bytes, ...report })}\n`);
  else process.stdout.write(`copied ${bytes} bytes to ${target}\n${reportText(report, false)}\n`);
  return report.fault === null ? 0 : 1;
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        data: { type: "string", default: ".data" },
        to: { type: "string" },
        json: { type: "boolean", default: false },
      },
    });
    const { data, to, json } = values;
    if (to === undefined) throw new StartError(`--to is missing; usage: ${BACKUP_USAGE}`);
    return { data, to, json };
  } catch (error) {
    if (error instanceof StartError) throw error;
    const problem = error instanceof Error ? error.message.split(". ", 1)[0] : String(error);
    throw new StartError(`${problem}; usage: ${BACKUP_USAGE}`);
  }
}
