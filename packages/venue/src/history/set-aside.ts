/**
 * Renames a history that cannot be used instead of removing it: an operator may want to inspect it.
 *
 *   history.set-aside-2026-11-15T22-26-21.123Z/     with `reason.txt`
 *
 * Each needs as much disk as a history, so only the newest `KEPT` stay. A history in the format of
 * another release is not set aside but removed: nothing is wrong with it.
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const KEPT = 2;

/** Returns the new path; undefined if there is no history. */
export function setAside(directory: string, reason: string, nowMs: number): string | undefined {
  if (!existsSync(directory)) return undefined;
  const prefix = `${basename(directory)}.set-aside-`;
  const to = freePath(join(dirname(directory), prefix + timeName(nowMs)));
  renameSync(directory, to);
  writeFileSync(join(to, "reason.txt"), `${reason}\n`, { mode: 0o600 });
  const earlier = readdirSync(dirname(directory)).filter((name) => name.startsWith(prefix));
  for (const name of earlier.sort().reverse().slice(KEPT)) {
    rmSync(join(dirname(directory), name), { recursive: true });
  }
  return to;
}

/** A time as part of a file's name. */
export function timeName(timeMs: number): string {
  return new Date(timeMs).toISOString().replaceAll(":", "-");
}

/** The path, or the first free one with a number appended. */
export function freePath(path: string): string {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? path : `${path}-${count}`;
    if (!existsSync(candidate)) return candidate;
  }
}
