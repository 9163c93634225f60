/**
 * A window that moves forward over a file: `locate` finds bytes of it and reads ahead in large
 * pieces. Each piece is newly allocated, so views into earlier pieces stay valid.
 */

import type { DiskFile } from "./disk.js";
import { readUpTo } from "./disk.js";

const PIECE_BYTES = 1024 * 1024;
const NOTHING = new DataView(new ArrayBuffer(0));

export class FileWindow {
  readonly size: number;
  /** The piece last read; `locate` returns offsets into it. */
  view: DataView = NOTHING;
  private start = 0;

  constructor(private readonly file: DiskFile) {
    this.size = file.size();
  }

  /** Where in `view` the file's [offset, offset + length) begins; undefined past the end of file. */
  locate(offset: number, length: number): number | undefined {
    const at = offset - this.start;
    if (at >= 0 && at + length <= this.view.byteLength) return at;
    if (offset + length > this.size) return undefined;
    const piece = readUpTo(this.file, offset, Math.min(this.size - offset, PIECE_BYTES + length));
    this.view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    this.start = offset;
    return piece.length >= length ? 0 : undefined;
  }

  /** Drops the cached piece: a writer may have changed the file since. */
  refresh(): void {
    this.view = NOTHING;
  }
}

/** The offset of the first byte from `from` on that is not zero, or undefined. */
export function firstNonZero(file: DiskFile, from: number): number | undefined {
  const size = file.size();
  for (let at = from; at < size; at += PIECE_BYTES) {
    const piece = readUpTo(file, at, Math.min(PIECE_BYTES, size - at));
    if (piece.equals(ZEROS.subarray(0, piece.length))) continue;
    return at + piece.findIndex((byte) => byte !== 0);
  }
  return undefined;
}

/** The offset after the last byte from `from` on that is not zero, or `from`. */
export function endOfNonZero(file: DiskFile, from: number): number {
  const size = file.size();
  let end = from;
  for (let at = from; at < size; at += PIECE_BYTES) {
    const piece = readUpTo(file, at, Math.min(PIECE_BYTES, size - at));
    if (piece.equals(ZEROS.subarray(0, piece.length))) continue;
    end = at + piece.findLastIndex((byte) => byte !== 0) + 1;
  }
  return end;
}

const ZEROS = Buffer.alloc(PIECE_BYTES);
