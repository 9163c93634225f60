/**
 * What a gateway serves besides its interface.
 *
 * The folder of the trading page: the configured one, or the one that `npm start` builds.
 *
 * A configured folder without a page is an error. If the default folder is missing, the gateway serves
 * the API alone.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../cli/start-error.js";
import { packageFolder } from "../package-folder.js";
import type { Settings } from "./settings.js";

const BUILT = fileURLToPath(new URL("../terminal/dist", packageFolder()));
const GUIDES = fileURLToPath(new URL("../../docs", packageFolder()));
const PACKAGES = fileURLToPath(new URL("dist/packages", packageFolder()));

export function pageFolderOf({ server }: Settings): string | undefined {
  const { page } = server;
  if (page === false) return undefined;
  if (page === undefined) return builtPage();
  const folder = resolve(page);
  if (!hasPage(folder)) throw new StartError(`server.page: ${folder} has no index.html`);
  return folder;
}

/** The page that `npm run build` and `npm start` make; undefined without one. */
export function builtPage(): string | undefined {
  return hasPage(BUILT) ? BUILT : undefined;
}

/** The folder of the client packages, which `npm run build` and `npm start` make. */
export function packageFilesFolder(): string | undefined {
  return existsSync(PACKAGES) ? PACKAGES : undefined;
}

/** The folder of the guides, which a copy of the repository has. */
export function guidesFolder(): string | undefined {
  return existsSync(GUIDES) ? GUIDES : undefined;
}

function hasPage(folder: string): boolean {
  return existsSync(join(folder, "index.html"));
}
