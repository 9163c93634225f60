/** A folder as an npm package file: gzip of a ustar archive, whose bytes depend on the files alone. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BLOCK = 512;
/** As npm does it: 1985-10-26, so that no tool takes the time for unset. */
const TIME = 499_162_500;

export function tarballOf(folder) {
  const blocks = filesIn(folder).flatMap((path) => {
    const bytes = readFileSync(join(folder, path));
    const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    return [headerOf(`package/${path}`, bytes.length), bytes, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function filesIn(folder, parent = "") {
  const entries = readdirSync(join(folder, parent), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
      return entry.isDirectory() ? filesIn(folder, path) : [path];
    });
}

function headerOf(path, size) {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for an archive`);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write(`${TIME.toString(8).padStart(11, "0")}\0`, 136);
  // The checksum counts itself as spaces.
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\0", 257);
  header.write("00", 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
