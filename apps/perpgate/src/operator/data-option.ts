/** The data folder of the operator's commands. */

import { resolve } from "node:path";

export const DEFAULT_DATA = ".data";
export const DATA_HELP = `the data folder (${DEFAULT_DATA})  [PERPGATE_DATA]`;

/** `--data`, otherwise PERPGATE_DATA, otherwise the default; as `serve` without a file. */
export function dataFolderOf({ data }: { readonly data?: string }): string {
  return resolve(data ?? process.env.PERPGATE_DATA ?? DEFAULT_DATA);
}
