/**
 * The bytes of a simulated file, as the system shows them and as the medium holds them.
 *
 * A write changes what is shown at once; a sync brings it to the medium. When power is lost, each
 * sector of each write that was not synced is kept or lost on its own, whatever its order. A
 * sector that is written over is old or new, never a mixture, and bytes outside a write are never
 * harmed: what the journal assumes of a disk, and no more.
 */

import type { SeededRandom } from "./random.js";

export const SECTOR_BYTES = 512;

interface Unsynced {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export class FakeInode {
  #shown: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);
  #unsynced: Unsynced[] = [];

  get size(): number {
    return this.#shown.length;
  }

  get shown(): Buffer {
    return this.#shown;
  }

  read(into: Uint8Array, offset: number): number {
    const piece = this.#shown.subarray(offset, offset + into.length);
    into.set(piece);
    return piece.length;
  }

  write(bytes: Uint8Array, offset: number): void {
    const copy = Uint8Array.from(bytes);
    this.#shown = patched(this.#shown, copy, offset);
    this.#unsynced.push({ offset, bytes: copy });
  }

  sync(): void {
    for (const { offset, bytes } of this.#unsynced) {
      this.#held = patched(this.#held, bytes, offset);
    }
    this.#unsynced = [];
  }

  /**
   * A sync that fails as Linux lets it: some sectors reach the medium, the others never will, and
   * all count as clean, so that what is shown is not what is held and a later sync says nothing.
   */
  failSync(random: SeededRandom): void {
    const shown = Buffer.from(this.#shown);
    this.losePower(random, 0.5);
    this.#shown = shown;
  }

  /** Only the medium remains; each unsynced sector had reached it with the given probability. */
  losePower(random: SeededRandom, kept: number): void {
    for (const { offset, bytes } of this.#unsynced) {
      for (let at = 0; at < bytes.length; ) {
        const length = Math.min(bytes.length - at, SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
        if (random.chance(kept)) {
          this.#held = patched(this.#held, bytes.subarray(at, at + length), offset + at);
        }
        at += length;
      }
    }
    this.#unsynced = [];
    this.#shown = Buffer.from(this.#held);
  }

  /** Rot: a bit of the medium changes. */
  flipBit(offset: number, bit: number): void {
    for (const image of [this.#shown, this.#held]) {
      const byte = image[offset];
      if (byte !== undefined) image[offset] = byte ^ (1 << bit);
    }
  }

  clone(): FakeInode {
    const copy = new FakeInode();
    copy.#shown = Buffer.from(this.#shown);
    copy.#held = Buffer.from(this.#held);
    copy.#unsynced = [...this.#unsynced];
    return copy;
  }
}

/** Writes into the image in place when it is long enough; a gap before the write reads as zeros. */
function patched(image: Buffer, bytes: Uint8Array, offset: number): Buffer {
  const end = offset + bytes.length;
  const target = end <= image.length ? image : Buffer.alloc(end);
  if (target !== image) target.set(image);
  target.set(bytes, offset);
  return target;
}
