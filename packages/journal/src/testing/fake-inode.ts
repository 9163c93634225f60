/**
 * The bytes of a simulated file, as reads return them and as they are on the medium.
 *
 * A write is visible to reads immediately; a sync copies it to the medium. After a power loss each
 * sector of each unsynced write is independently kept or lost. An overwritten sector is old or new,
 * never a mixture, and bytes outside a write are never changed: exactly what the journal assumes of
 * a disk.
 */

import type { Random } from "@perpgate/protocol/random";

export const SECTOR_BYTES = 512;

interface Unsynced {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Bytes that clones of a disk may share: copied before the first change. */
interface Image {
  readonly bytes: Buffer;
  shared: boolean;
}

export class FakeInode {
  private visible: Image = { bytes: Buffer.alloc(0), shared: false };
  private medium: Image = { bytes: Buffer.alloc(0), shared: false };
  private unsynced: Unsynced[] = [];

  get size(): number {
    return this.visible.bytes.length;
  }

  get shown(): Buffer {
    return this.visible.bytes;
  }

  read(into: Uint8Array, offset: number): number {
    const piece = this.visible.bytes.subarray(offset, offset + into.length);
    into.set(piece);
    return piece.length;
  }

  write(bytes: Uint8Array, offset: number): void {
    const copy = Uint8Array.from(bytes);
    this.visible = patched(this.visible, copy, offset);
    this.unsynced.push({ offset, bytes: copy });
  }

  sync(): void {
    for (const { offset, bytes } of this.unsynced) {
      this.medium = patched(this.medium, bytes, offset);
    }
    this.unsynced = [];
  }

  /**
   * A sync that fails as Linux lets it: some sectors reach the medium, the others never will, and
   * all count as clean, so that what is shown is not what is held and a later sync says nothing.
   */
  failSync(random: Random): void {
    const shown = this.visible;
    this.losePower(random, 0.5);
    this.visible = shown;
  }

  /** Only the medium remains; each unsynced sector had reached it with the given probability. */
  losePower(random: Random, kept: number): void {
    for (const { offset, bytes } of this.unsynced) {
      for (let at = 0; at < bytes.length; ) {
        const length = Math.min(bytes.length - at, SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
        if (random.chance(kept)) {
          this.medium = patched(this.medium, bytes.subarray(at, at + length), offset + at);
        }
        at += length;
      }
    }
    this.unsynced = [];
    this.visible = share(this.medium);
  }

  /** Rot: a bit of the medium changes. */
  flipBit(offset: number, bit: number): void {
    this.visible = flipped(this.visible, offset, bit);
    this.medium = flipped(this.medium, offset, bit);
  }

  clone(): FakeInode {
    const copy = new FakeInode();
    copy.visible = share(this.visible);
    copy.medium = share(this.medium);
    copy.unsynced = [...this.unsynced];
    return copy;
  }
}

function share(image: Image): Image {
  image.shared = true;
  return { bytes: image.bytes, shared: true };
}

/** Writes into the image in place when it may; a gap before the write reads as zeros. */
function patched(image: Image, bytes: Uint8Array, offset: number): Image {
  const end = offset + bytes.length;
  const own = end <= image.bytes.length && !image.shared;
  const target = own ? image.bytes : Buffer.alloc(Math.max(end, image.bytes.length));
  if (!own) target.set(image.bytes);
  target.set(bytes, offset);
  return own ? image : { bytes: target, shared: false };
}

function flipped(image: Image, offset: number, bit: number): Image {
  const byte = image.bytes[offset];
  return byte === undefined ? image : patched(image, Uint8Array.of(byte ^ (1 << bit)), offset);
}
