/** Damages what a stopped server stores of a stream, as a failing disk would. */

import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NatsServer } from "./nats-server.js";

export type Damage = "flipped bytes" | "cut files";

const EVERY_BYTES = 4096;

/** Returns how many files were damaged. */
export function damageStream(server: NatsServer, stream: string, damage: Damage): number {
  if (server.isRunning) throw new Error(`${server.name} is running`);
  const files = messageFiles(server.storeFolder, stream);
  for (const file of files) {
    if (damage === "cut files") truncateSync(file, Math.floor(statSync(file).size / 2));
    else flip(file);
  }
  return files.length;
}

function messageFiles(folder: string, stream: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.includes(`${stream}/msgs/`))
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
}

/** One bit in every 4 KiB, from a third of the file on. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  for (let at = Math.floor(bytes.length / 3); at < bytes.length; at += EVERY_BYTES) {
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  }
  writeFileSync(file, bytes);
}
