import { existsSync } from "node:fs";

/** The folder of this package's manifest, from its sources, its build or its bundle. */
export function packageFolder(): URL {
  let folder = new URL("./", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) {
    const above = new URL("../", folder);
    if (above.href === folder.href) throw new Error("package.json is missing");
    folder = above;
  }
  return folder;
}
