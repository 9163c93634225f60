/**
 * A disk that reports failed writes and syncs of the log to the auditor. From then on the process
 * must acknowledge nothing that was not durable before. The report does not come from the journal,
 * since the auditor checks the journal. Other failures (a spare segment, a snapshot) are not
 * reported: the journal must handle them.
 */

import type { Disk, DiskFile, DiskLock, LockHolder } from "@perpgate/journal";

const SEGMENT = /\.log$/;

export class WatchedDisk implements Disk {
  constructor(
    private readonly disk: Disk,
    private readonly onLogFailure: () => void,
  ) {}

  open(path: string, mode: "read" | "write" | "create"): DiskFile {
    const file = this.disk.open(path, mode);
    return SEGMENT.test(path) ? this.watch(file) : file;
  }

  rename(from: string, to: string): void {
    this.disk.rename(from, to);
  }

  remove(path: string): void {
    this.disk.remove(path);
  }

  list(directory: string): string[] {
    return this.disk.list(directory);
  }

  makeDirectory(directory: string): void {
    this.disk.makeDirectory(directory);
  }

  syncDirectory(directory: string): void {
    this.disk.syncDirectory(directory);
  }

  roomBytes(directory: string): number {
    return this.disk.roomBytes(directory);
  }

  lock(path: string): DiskLock | LockHolder {
    return this.disk.lock(path);
  }

  private watch(file: DiskFile): DiskFile {
    return {
      size: () => file.size(),
      read: (into, offset) => file.read(into, offset),
      write: (bytes, offset) => this.attempt(() => file.write(bytes, offset)),
      sync: () => this.attempt(() => file.sync()),
      close: () => file.close(),
    };
  }

  private attempt<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.onLogFailure();
      throw error;
    }
  }
}
