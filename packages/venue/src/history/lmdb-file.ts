/**
 * Checks an lmdb file before lmdb maps it: a file that is no lmdb file, or that is too short, would
 * crash the process instead of failing to open. Both meta pages must be valid, and the file must
 * contain every page that the newer one counts. lmdb has no checksums: damage within a page shows only
 * when the page is read.
 *
 * A meta page, little-endian: magic at 24, version at 28, page size at 48, number of the last page
 * at 144, transaction at 152.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const META_BYTES = 160;

/** What is wrong with the file, or null. */
export function lmdbFileFault(path: string): string | null {
  const file = openSync(path, "r");
  try {
    const first = readMeta(file, 0);
    if (first === undefined) return "it is not an lmdb file";
    const second = readMeta(file, first.pageBytes);
    if (second === undefined) return "its second meta page is not valid";
    const newer = first.transaction >= second.transaction ? first : second;
    const needed = (newer.lastPage + 1) * newer.pageBytes;
    const { size } = fstatSync(file);
    return size >= needed ? null : `it has ${size} bytes and needs ${needed}`;
  } finally {
    closeSync(file);
  }
}

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
}

function readMeta(file: number, at: number): Meta | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, at) < META_BYTES) return undefined;
  if (bytes.readUInt32LE(24) !== MAGIC || bytes.readUInt32LE(28) !== VERSION) return undefined;
  return {
    pageBytes: bytes.readUInt32LE(48),
    lastPage: Number(bytes.readBigUInt64LE(144)),
    transaction: Number(bytes.readBigUInt64LE(152)),
  };
}
