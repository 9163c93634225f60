#!/usr/bin/env node
/**
 * What `npm pack` and `npm publish` run in the folder of a public package. Before: builds, and puts the
 * published form of the package in place of the workspace's. After: puts the workspace's back.
 *
 * usage: in-place.mjs prepack | postpack
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { assemble, folderOf, ROOT } from "./assemble.mjs";

const name = basename(process.cwd());
const folder = folderOf(name);
/** Files of the workspace that the published form replaces. */
const REPLACED = ["package.json", "README.md"];
/** Files that the workspace does not have. */
const ADDED = ["lib", "LICENSE"];
const keptPath = (file) => join(folder, `.workspace-${file}`);

function putBack() {
  for (const file of REPLACED) {
    if (existsSync(keptPath(file))) renameSync(keptPath(file), join(folder, file));
  }
  for (const file of ADDED) rmSync(join(folder, file), { recursive: true, force: true });
}

async function replace() {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-b", folder, "--checkers", "1"], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`${name} does not compile`);
  const assembled = join(folder, "node_modules", `.assembled-${process.pid}`);
  mkdirSync(assembled, { recursive: true });
  try {
    await assemble(name, assembled);
    for (const file of REPLACED) renameSync(join(folder, file), keptPath(file));
    for (const file of [...REPLACED, ...ADDED]) {
      renameSync(join(assembled, file), join(folder, file));
    }
  } catch (error) {
    putBack();
    throw error;
  } finally {
    rmSync(assembled, { recursive: true, force: true });
  }
}

// An earlier pack may have been interrupted.
putBack();
if (process.argv[2] === "prepack") await replace();
