/**
 * A simulated disk for tests: seeded, in memory, and unreliable on request.
 *
 * Every call that changes something is an operation with a running number. A plan names the
 * operation that goes wrong and how; after a crash every call throws until `restart`. Names are
 * durable only once their directory is synced; when power is lost, a directory keeps some first
 * part of what was done to it since. Capacity counts the bytes of all files.
 */

import { dirname } from "node:path";
import { Random } from "@perpgate/protocol/random";
import type { Disk, DiskFile, DiskLock, LockHolder } from "../disk.js";
import { FakeInode } from "./fake-inode.js";

export class SimulatedCrash extends Error {
  override readonly name = "SimulatedCrash";
}

/** What goes wrong at an operation. A write may first write some of its bytes. */
export type Fault =
  | { readonly kind: "crash"; readonly bytesWritten?: number }
  | { readonly kind: "short_write"; readonly bytesWritten: number }
  | { readonly kind: "error"; readonly code: "EIO" | "ENOSPC"; readonly bytesWritten?: number }
  | { readonly kind: "failed_sync" };

export interface FaultPlan {
  /** The running number of the operation, from 1. */
  readonly operation: number;
  readonly fault: Fault;
}

export class FakeDisk implements Disk {
  operations = 0;
  plan: FaultPlan | undefined;
  capacityBytes = Number.POSITIVE_INFINITY;
  private readonly random: Random;
  private crashed = false;
  private names = new Map<string, FakeInode>();
  private durableNames = new Map<string, FakeInode>();
  private changes: NameChange[] = [];
  private locks = new Set<string>();
  private life = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /**
   * After a kill everything written is still there. After a power cut what was synced is, and of
   * the rest the disk keeps some, as the seed has it, or nothing.
   */
  restart(after: "kill" | "power_cut", unsynced: "some" | "none" = "some"): void {
    this.crashed = false;
    this.plan = undefined;
    this.locks.clear();
    this.life += 1;
    if (after === "power_cut") this.losePower(unsynced);
  }

  /** The bytes of a file, as they are shown. */
  contents(path: string): Uint8Array {
    return Uint8Array.from(this.inode(path).shown);
  }

  paths(): string[] {
    return [...this.names.keys()].sort();
  }

  flipBit(path: string, offset: number, bit: number): void {
    this.inode(path).flipBit(offset, bit);
  }

  /** The same disk, as it is now, to be treated differently. */
  clone(seed: number): FakeDisk {
    const copy = new FakeDisk(seed);
    const inodes = new Map<FakeInode, FakeInode>();
    const twin = (inode: FakeInode): FakeInode => {
      const known = inodes.get(inode) ?? inode.clone();
      inodes.set(inode, known);
      return known;
    };
    for (const [path, inode] of this.names) copy.names.set(path, twin(inode));
    for (const [path, inode] of this.durableNames) copy.durableNames.set(path, twin(inode));
    copy.changes = this.changes.map(({ directory, names }) => ({
      directory,
      names: names.map(([path, inode]) => [path, inode && twin(inode)] as const),
    }));
    copy.capacityBytes = this.capacityBytes;
    return copy;
  }

  open(path: string, mode: "read" | "write" | "create"): DiskFile {
    this.checkAlive();
    if (mode === "create") {
      if (this.names.has(path)) throw systemError("EEXIST", path);
      const created = new FakeInode();
      this.operation();
      this.change(path, [[path, created]]);
    }
    return this.handle(this.inode(path));
  }

  rename(from: string, to: string): void {
    const inode = this.inode(from);
    this.operation();
    this.change(to, [
      [from, undefined],
      [to, inode],
    ]);
  }

  remove(path: string): void {
    this.inode(path);
    this.operation();
    this.change(path, [[path, undefined]]);
  }

  list(directory: string): string[] {
    this.checkAlive();
    const paths = [...this.names.keys()].filter((path) => dirname(path) === directory);
    return paths.map((path) => path.slice(directory.length + 1));
  }

  makeDirectory(): void {
    this.checkAlive();
  }

  syncDirectory(directory: string): void {
    const fault = this.operation();
    if (fault?.kind === "failed_sync") throw systemError("EIO", directory);
    for (const change of this.changes) {
      if (change.directory === directory) applyChange(change, this.durableNames);
    }
    this.changes = this.changes.filter((change) => change.directory !== directory);
  }

  roomBytes(): number {
    this.checkAlive();
    return this.capacityBytes - this.usedBytes();
  }

  lock(directory: string): DiskLock | LockHolder {
    this.checkAlive();
    if (this.locks.has(directory)) return { held: false, holder: "" };
    this.locks.add(directory);
    const life = this.life;
    return {
      held: true,
      release: () => {
        if (life === this.life) this.locks.delete(directory);
      },
    };
  }

  /** A file opened before a restart belongs to a dead process and can do nothing. */
  private handle(inode: FakeInode): DiskFile {
    const life = this.life;
    const alive = (): void => {
      if (life !== this.life) throw new SimulatedCrash("the file was open in a dead process");
      this.checkAlive();
    };
    return {
      size: () => inode.size,
      read: (into, offset) => {
        alive();
        return inode.read(into, offset);
      },
      write: (bytes, offset) => {
        alive();
        return this.write(inode, bytes, offset);
      },
      sync: () => {
        alive();
        const fault = this.operation();
        if (fault?.kind !== "failed_sync") return inode.sync();
        inode.failSync(this.random);
        throw systemError("EIO", "fdatasync");
      },
      close: () => undefined,
    };
  }

  private write(inode: FakeInode, bytes: Uint8Array, offset: number): number {
    const planned = this.plan?.operation === this.operations + 1 ? this.plan.fault : undefined;
    const limit =
      planned !== undefined && "bytesWritten" in planned ? planned.bytesWritten : undefined;
    const room = this.capacityBytes - this.usedBytes() + Math.max(0, inode.size - offset);
    const length = Math.max(0, Math.min(bytes.length, room, limit ?? bytes.length));
    // A planned fault without a limit strikes before the write, one with a limit after that part.
    if (length > 0 && limit !== undefined) inode.write(bytes.subarray(0, length), offset);
    this.operation();
    if (length === 0) throw systemError("ENOSPC", "write");
    if (limit === undefined) inode.write(bytes.subarray(0, length), offset);
    return length;
  }

  /** Counts the operation; crashes or fails if it is the planned one. */
  private operation(): Fault | undefined {
    this.checkAlive();
    this.operations += 1;
    if (this.plan?.operation !== this.operations) return undefined;
    const { fault } = this.plan;
    if (fault.kind === "crash") {
      this.crashed = true;
      throw new SimulatedCrash(`at operation ${this.operations}`);
    }
    if (fault.kind === "error") throw systemError(fault.code, `operation ${this.operations}`);
    return fault;
  }

  private change(path: string, names: NameChange["names"]): void {
    const change = { directory: dirname(path), names };
    applyChange(change, this.names);
    this.changes.push(change);
  }

  private losePower(unsynced: "some" | "none"): void {
    const keepsSome = unsynced === "some";
    const kept = keepsSome ? this.random.pick([0, 0.5, 0.9, 1]) : 0;
    const changes = keepsSome ? this.random.below(this.changes.length + 1) : 0;
    for (const change of this.changes.slice(0, changes)) applyChange(change, this.durableNames);
    this.changes = [];
    for (const inode of new Set(this.durableNames.values())) inode.losePower(this.random, kept);
    this.names = new Map(this.durableNames);
  }

  private usedBytes(): number {
    let bytes = 0;
    for (const inode of this.names.values()) bytes += inode.size;
    return bytes;
  }

  private inode(path: string): FakeInode {
    this.checkAlive();
    const inode = this.names.get(path);
    if (inode === undefined) throw systemError("ENOENT", path);
    return inode;
  }

  private checkAlive(): void {
    if (this.crashed) throw new SimulatedCrash("the process is dead");
  }
}

function systemError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

/** One change of a directory of the simulated disk. */
interface NameChange {
  readonly directory: string;
  /** Each name's new file, or undefined if the name is removed. */
  readonly names: readonly (readonly [path: string, inode: FakeInode | undefined])[];
}

function applyChange({ names }: NameChange, to: Map<string, FakeInode>): void {
  for (const [path, inode] of names) {
    if (inode === undefined) to.delete(path);
    else to.set(path, inode);
  }
}
