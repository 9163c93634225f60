#!/usr/bin/env node
/**
 * What `npx perpgate` runs. It is committed, and not compiled, so that installing the workspace
 * finds it before the first build, and links it.
 */

import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write("perpgate: not built yet; run: npm run build\n");
  process.exitCode = 1;
}
