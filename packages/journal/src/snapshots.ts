/**
 * Snapshots: states of a replica at an index of the log.
 *
 * A snapshot is written under a temporary name, synced and renamed, and then the directory is
 * synced, so a crash leaves the old set or the new one. It contains the log's id, its index, and
 * checksums of header and body. Little-endian, 64 bytes, then the body:
 *
 *      0  u32  magic "PGS1"          32  u64  records before it
 *      4  u32  version, 1            40  u64  length of the body
 *      8  16 bytes  log id           48  u32  CRC32C of the body
 *     24  u64  batches before it     60  u32  CRC32C of bytes 0 … 60
 *
 * All calls block on the disk: call them in the thread of the replica that takes the snapshot, never
 * on the order path. A failed write leaves no partial snapshot and does not affect the log.
 */

import { basename, join } from "node:path";
import { crc32c } from "./crc32c.js";
import {
  type Disk,
  isNotThere,
  makeWhole,
  readUpTo,
  refuseToFill,
  type Steps,
  writeFully,
} from "./disk.js";
import type { LogSeq } from "./log-seq.js";
import { UNFINISHED_SUFFIX } from "./spare-segments.js";
import { readU53, writeU53 } from "./u53.js";

const HEADER_BYTES = 64;
const PIECE_BYTES = 1024 * 1024;
const MAGIC = 0x31534750;
const VERSION = 1;
const NAME = /^(\d{16})\.snapshot$/;

export const isSnapshotName = (name: string): boolean => NAME.test(name);

/** The number of batches before a snapshot, from its name. */
const batchOfName = (file: string): number => Number.parseInt(basename(file), 10);

interface SnapshotInfo {
  readonly file: string;
  readonly seq: LogSeq;
  readonly bytes: number;
}

interface CheckedInfo extends SnapshotInfo {
  /** Of the body. */
  readonly checksum: number;
}

interface Snapshot extends SnapshotInfo {
  readonly body: Uint8Array;
}

interface NewestSnapshot {
  readonly snapshot: Snapshot | undefined;
  /** Newer files that were skipped because they are damaged. */
  readonly damaged: readonly string[];
}

export interface Snapshots {
  /** Durable on return. `body` is the state, in one or more pieces. */
  write(seq: LogSeq, body: readonly Uint8Array[]): SnapshotInfo;
  /** Snapshots with a valid header, newest first. */
  list(): SnapshotInfo[];
  /** The newest valid snapshot (header and body checked) at or before that batch. */
  newest(atOrBefore?: number): NewestSnapshot;
  /**
   * Removes all but the newest `count`, and the newest at or before the batch `reached`, if one is given; returns
   * the number removed.
   */
  keepNewest(count: number, reached?: number): number;
}

export class FileSnapshots implements Snapshots {
  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private readonly logId: Uint8Array,
  ) {}

  write(seq: LogSeq, body: readonly Uint8Array[]): SnapshotInfo {
    const name = `${String(seq.batch).padStart(16, "0")}.snapshot`;
    const file = join(this.directory, name);
    const unfinished = file + UNFINISHED_SUFFIX;
    if (this.disk.list(this.directory).includes(name + UNFINISHED_SUFFIX)) {
      this.disk.remove(unfinished);
    }
    const length = body.reduce((sum, piece) => sum + piece.length, HEADER_BYTES);
    refuseToFill(this.disk, this.directory, length);
    const bytes = makeWhole(this.disk, unfinished, file, () =>
      this.writeFile(unfinished, seq, body),
    );
    this.disk.syncDirectory(this.directory);
    return { file, seq, bytes };
  }

  list(): SnapshotInfo[] {
    return this.look((files) => files.flatMap((file) => this.readHeader(file) ?? []));
  }

  /** The batch numbers in the files' names, valid or not, newest first. */
  batches(): number[] {
    return this.files().map(batchOfName);
  }

  newest(atOrBefore = Number.MAX_SAFE_INTEGER): NewestSnapshot {
    return this.look((files) => {
      const damaged: string[] = [];
      for (const file of files) {
        if (batchOfName(file) > atOrBefore) continue;
        const snapshot = this.read(file);
        if (snapshot !== undefined) return { snapshot, damaged };
        damaged.push(file);
      }
      return { snapshot: undefined, damaged };
    });
  }

  /** Where the newest valid snapshot is, without keeping its body; a step per piece that is read. */
  *newestIntact(): Steps<LogSeq | undefined> {
    for (let files = this.files(); ; ) {
      try {
        for (const file of files) {
          const info = this.readHeader(file);
          if (info !== undefined && (yield* isIntact(this.disk, info))) return info.seq;
        }
        return undefined;
      } catch (error) {
        files = this.changedSince(files, error);
      }
    }
  }

  keepNewest(count: number, reached = Number.MAX_SAFE_INTEGER): number {
    const files = this.files();
    const needed = files.find((file) => batchOfName(file) <= reached);
    const old = files.slice(Math.max(1, count)).filter((file) => file !== needed);
    for (const file of old) this.disk.remove(file);
    if (old.length > 0) this.disk.syncDirectory(this.directory);
    return old.length;
  }

  private look<T>(at: (files: readonly string[]) => T): T {
    for (let files = this.files(); ; ) {
      try {
        return at(files);
      } catch (error) {
        files = this.changedSince(files, error);
      }
    }
  }

  /**
   * The replica that takes snapshots runs in another thread or process and removes the oldest, also
   * between our listing of the names and our opening of a file. If a file disappeared and the list
   * has changed, there is a newer snapshot: try again.
   */
  private changedSince(files: readonly string[], error: unknown): readonly string[] {
    const now = this.files();
    if (!isNotThere(error) || now.join() === files.join()) throw error;
    return now;
  }

  /** Newest first. */
  private files(): readonly string[] {
    const names = this.disk.list(this.directory).filter(isSnapshotName);
    return names
      .sort()
      .reverse()
      .map((name) => join(this.directory, name));
  }

  private writeFile(path: string, seq: LogSeq, body: readonly Uint8Array[]): number {
    const file = this.disk.open(path, "create");
    try {
      let bytes = 0;
      let checksum = 0;
      for (const piece of body) {
        writeFully(file, piece, HEADER_BYTES + bytes);
        checksum = crc32c(piece, checksum);
        bytes += piece.length;
      }
      writeFully(file, this.encodeHeader(seq, bytes, checksum), 0);
      file.sync();
      return bytes;
    } finally {
      file.close();
    }
  }

  private encodeHeader(seq: LogSeq, bytes: number, checksum: number): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(MAGIC, 0);
    header.writeUInt32LE(VERSION, 4);
    header.set(this.logId, 8);
    writeU53(header, 24, seq.batch);
    writeU53(header, 32, seq.record);
    writeU53(header, 40, bytes);
    header.writeUInt32LE(checksum, 48);
    header.writeUInt32LE(crc32c(header.subarray(0, 60)), 60);
    return header;
  }

  private readHeader(path: string): CheckedInfo | undefined {
    const file = this.disk.open(path, "read");
    try {
      const header = readUpTo(file, 0, HEADER_BYTES);
      if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC) return undefined;
      if (header.readUInt32LE(60) !== crc32c(header.subarray(0, 60))) return undefined;
      if (header.readUInt32LE(4) !== VERSION) return undefined;
      if (Buffer.compare(header.subarray(8, 24), this.logId) !== 0) return undefined;
      const bytes = readU53(header, 40);
      if (file.size() !== HEADER_BYTES + bytes) return undefined;
      const seq = { batch: readU53(header, 24), record: readU53(header, 32) };
      return { file: path, seq, bytes, checksum: header.readUInt32LE(48) };
    } finally {
      file.close();
    }
  }

  private read(path: string): Snapshot | undefined {
    const info = this.readHeader(path);
    if (info === undefined) return undefined;
    const file = this.disk.open(path, "read");
    try {
      const body = readUpTo(file, HEADER_BYTES, info.bytes);
      if (body.length !== info.bytes || crc32c(body) !== info.checksum) return undefined;
      return { file: path, seq: info.seq, bytes: info.bytes, body };
    } finally {
      file.close();
    }
  }
}

function* isIntact(disk: Disk, { file: path, bytes, checksum }: CheckedInfo): Steps<boolean> {
  const file = disk.open(path, "read");
  try {
    let found = 0;
    for (let at = 0; at < bytes; at += PIECE_BYTES) {
      const piece = readUpTo(file, HEADER_BYTES + at, Math.min(PIECE_BYTES, bytes - at));
      found = crc32c(piece, found);
      yield;
    }
    return found === checksum;
  } finally {
    file.close();
  }
}
