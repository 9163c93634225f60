/** `perpgate succeed`: announces a new log key, signed by the present one and by the new one. */

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { ConfigRefused, succeed, successorsFile } from "@perpgate/venue";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { logKeyIn, OWN_KEY } from "../serve/log-key-file.js";
import { createPrivateFile, readPrivateFile } from "../trader/private-file.js";
import { dataFolderOf } from "./data-option.js";

interface SucceedOptions {
  readonly data?: string;
  readonly key?: string;
  readonly json?: boolean;
}

export async function succeedLogKey(file: string, options: SucceedOptions): Promise<number> {
  const output = new Output(options.json === true);
  const data = dataFolderOf(options);
  const own = join(data, OWN_KEY);
  const oldFile = options.key ?? own;
  const [from, to] = [logKeyIn(oldFile), logKeyIn(file)];
  try {
    await succeed(successorsFile(data), from, to);
  } catch (error) {
    throw error instanceof ConfigRefused ? new StartError(error.message) : error;
  }
  if (oldFile === own) replace(own, from.text, file);
  if (output.isJson) output.json({ from: from.text, to: to.text });
  else output.line(`${to.text} succeeds ${from.text}`);
  return 0;
}

/** After a crash in between there is no `log.key`, and a start says so. */
function replace(own: string, oldKey: string, file: string): void {
  const id = oldKey.split("+")[1] ?? "old";
  const kept = `${own}.${id}`;
  if (existsSync(kept)) throw new StartError(`${kept} exists; move it away, and try again`);
  renameSync(own, kept);
  createPrivateFile(own, readPrivateFile(file) ?? "");
}
