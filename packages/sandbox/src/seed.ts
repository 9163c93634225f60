/**
 * Random bytes that repeat. Each name has a sequence of its own, so that what one part draws does not
 * move what another one gets. Not for secrets: anyone who knows the seed knows every key.
 */

import { createHash } from "node:crypto";

const DIGEST_BYTES = 32;

export class Seed {
  private readonly drawn: Map<string, number>;

  constructor(
    readonly number: number,
    drawn: ReadonlyMap<string, number> = new Map(),
  ) {
    this.drawn = new Map(drawn);
  }

  bytes(name: string, length: number): Buffer {
    const index = this.drawn.get(name) ?? 0;
    this.drawn.set(name, index + 1);
    const parts: Buffer[] = [];
    for (let part = 0; part * DIGEST_BYTES < length; part++) {
      const text = `${this.number}/${name}/${index}/${part}`;
      parts.push(createHash("sha256").update(text).digest());
    }
    return Buffer.concat(parts).subarray(0, length);
  }

  hex(name: string, bytes: number): string {
    return this.bytes(name, bytes).toString("hex");
  }

  /** 0 ≤ x < 1. */
  fraction(name: string): number {
    return this.bytes(name, 6).readUIntBE(0, 6) / 2 ** 48;
  }

  /** How much of each sequence is drawn: a seed that is made with it goes on from here. */
  state(): ReadonlyMap<string, number> {
    return new Map(this.drawn);
  }
}

/** A key that every start of a sandbox has. */
export function seedOf(seed: Seed, name: string): Buffer {
  return new Seed(seed.number).bytes(name, DIGEST_BYTES);
}
