/** What `npm install http://…/sdk.tgz viem` does, with this repository's copies of public packages. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** `served` are packages of the gateway, such as `sdk`; `others` are those of the registry. */
export async function installServed(
  url: string,
  folder: string,
  served: readonly string[],
  others: readonly string[],
): Promise<void> {
  const needed = new Set(others);
  for (const name of served) {
    const place = join(folder, "node_modules/@perpgate", name);
    mkdirSync(place, { recursive: true });
    const response = await fetch(`${url}/${name}.tgz`);
    if (!response.ok) throw new Error(`${name}.tgz: ${response.status}`);
    const file = join(folder, `${name}.tgz`);
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    execFileSync("tar", ["-xzf", file, "-C", place, "--strip-components=1"]);
    const { dependencies } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    for (const dependency of Object.keys(dependencies)) needed.add(dependency);
  }
  for (const name of needed) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), place);
  }
}
