/**
 * Where the trading page is: the configured folder, or the one that `npm start` built.
 *
 * A configured folder without a page is a mistake and refused. A missing default is none: the
 * gateway also runs where only the interface is wanted, and then says nothing about a page.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../cli/start-error.js";
import type { Settings } from "./settings.js";

const BUILT = fileURLToPath(new URL("../../../terminal/dist", import.meta.url));

export function pageFolderOf({ server }: Settings): string | undefined {
  const { page } = server;
  if (page === false) return undefined;
  if (page === undefined) return hasPage(BUILT) ? BUILT : undefined;
  const folder = resolve(page);
  if (!hasPage(folder)) throw new StartError(`server.page: ${folder} has no index.html`);
  return folder;
}

function hasPage(folder: string): boolean {
  return existsSync(join(folder, "index.html"));
}
