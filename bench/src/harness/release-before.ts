import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A module of another release, from its built folder. */
export function moduleOf<T>(folder: string, path: string): Promise<T> {
  return import(pathToFileURL(join(folder, path)).href);
}
