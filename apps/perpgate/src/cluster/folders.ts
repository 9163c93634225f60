/** Where things are in a data folder, and in the folder of `cluster up`. */

import { join } from "node:path";

export function journalFolderOf(data: string): string {
  return join(data, "journal");
}
