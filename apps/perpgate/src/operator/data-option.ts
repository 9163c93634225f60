/** The data folder of the operator's commands. */

import { resolve } from "node:path";
import { DEFAULT_SETTINGS } from "../serve/settings.js";

export const DATA_HELP = "the data folder (.data)  [PERPGATE_DATA]";

/** `--data`, otherwise PERPGATE_DATA, otherwise the default; as `serve` without a file. */
export function dataFolderOf({ data }: { readonly data?: string }): string {
  return resolve(data ?? process.env.PERPGATE_DATA ?? DEFAULT_SETTINGS.data);
}
