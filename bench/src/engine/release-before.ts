/** The engine of another release, loaded from its built folder. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "@perpgate/engine";

/** What every release's engine can do. */
export interface BareEngine {
  apply(command: Command): unknown;
}

/** @throws if the folder has no built engine. */
export async function engineOf(folder: string): Promise<new () => BareEngine> {
  const path = join(folder, "packages", "engine", "dist", "index.js");
  const module: { readonly Engine: new () => BareEngine } = await import(pathToFileURL(path).href);
  return module.Engine;
}
