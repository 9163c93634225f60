/** Replaces a file so that after a crash it has the old text or the new one. */
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Durable on return. Two calls for one path must not overlap. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const partial = `${path}.new`;
  const file = await open(partial, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
