/**
 * Keeps a copy of a log up to date: segments that are closed as a whole, the open one up to its last
 * complete batch. The source is read only, so its venue never waits for the copy.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { BackupRefused, copySegment, inspect, type LogEnd, SEGMENT } from "./backup.js";
import { dataFolder, sync } from "./recovery/data-folder.js";

/** Compared before each addition: a log that lost its end and went on differs there. */
const COMPARED_BYTES = 4_096;

export class LogFollower {
  private readonly source: string;
  private readonly target: string;
  /** Where the copy ends. */
  private copied: Pick<LogEnd, "segment" | "offset">;

  /** `to` holds a copy that `backUp` or an earlier follower made. @throws {BackupRefused} */
  constructor(from: string, to: string) {
    this.source = dataFolder(from).journal;
    this.target = dataFolder(to).journal;
    const copy = inspect(this.target);
    if (!Buffer.from(copy.logId).equals(inspect(this.source).logId)) {
      throw new BackupRefused(`${to} is a copy of another log; name another folder`);
    }
    this.copied = { segment: copy.segment, offset: copy.offset };
  }

  /** Adds what the log has gained, durably. Returns the bytes. @throws {BackupRefused} */
  update(): { readonly bytes: number; readonly records: number } {
    const log = inspect(this.source);
    this.refuseOtherEnd(log);
    let bytes = 0;
    for (let segment = this.copied.segment; segment <= log.segment; segment++) {
      const isOpen = segment === log.segment;
      const path = this.pathIn(this.source, segment);
      const end = isOpen ? log.offset : statSync(path).size;
      bytes += segment === this.copied.segment ? this.append(segment, end) : this.add(segment, end);
      this.copied = { segment, offset: end };
    }
    return { bytes, records: log.end.record };
  }

  private append(segment: number, end: number): number {
    const { offset } = this.copied;
    if (end <= offset) return 0;
    const [from, to] = [this.pathIn(this.source, segment), this.pathIn(this.target, segment)];
    const target = openSync(to, "r+");
    try {
      writeAll(target, bytesOf(from, offset, end - offset), offset);
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
    return end - offset;
  }

  /** Under another name first: a copy that was killed leaves no segment without its beginning. */
  private add(segment: number, end: number): number {
    const to = this.pathIn(this.target, segment);
    const part = `${to}.part`;
    rmSync(part, { force: true });
    copySegment(this.pathIn(this.source, segment), part, end);
    renameSync(part, to);
    sync(this.target);
    return end;
  }

  private refuseOtherEnd(log: LogEnd): void {
    const { segment, offset } = this.copied;
    const path = this.pathIn(this.source, segment);
    if (!existsSync(path)) {
      throw new BackupRefused(
        `the log was pruned beyond the copy, which ends in segment ${segment}`,
      );
    }
    const from = Math.max(0, offset - COMPARED_BYTES);
    const isShorter = log.segment < segment || (log.segment === segment && log.offset < offset);
    const own = bytesOf(this.pathIn(this.target, segment), from, offset - from);
    if (!isShorter && own.equals(bytesOf(path, from, offset - from))) return;
    throw new BackupRefused(
      "the log does not continue the copy: its end was lost or replaced; keep the copy, and begin another",
    );
  }

  /** Segments of a folder have names of one length. */
  private pathIn(journal: string, segment: number): string {
    const name = readdirSync(this.source).find(
      (each) => Number(SEGMENT.exec(each)?.[1]) === segment,
    );
    return join(journal, name ?? `${segment}.log`);
  }
}

function bytesOf(file: string, at: number, length: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    for (let read = 0; read < length; ) {
      const more = readSync(descriptor, bytes, read, length - read, at + read);
      if (more === 0) throw new BackupRefused(`${file} ends before byte ${at + length}`);
      read += more;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, at + written);
  }
}
