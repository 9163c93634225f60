/**
 * A disk that tells when a write or a sync of the log itself failed. From that instant on the
 * process may acknowledge nothing that was not durable before: that is what the auditor is told
 * here, not by the journal, which is what it checks. Other failures (a spare segment, a snapshot)
 * are the journal's to live with.
 */

import type { Disk, DiskFile, DiskLock, LockHolder } from "@perpgate/journal";

const SEGMENT = /\.log$/;

export class WatchedDisk implements Disk {
  private readonly onLogFailure: () => void;

  constructor(
    private readonly disk: Disk,
    onLogFailure: () => void,
  ) {
    this.onLogFailure = onLogFailure;
  }

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
