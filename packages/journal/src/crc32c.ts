/**
 * CRC32C (Castagnoli), continued from an earlier value.
 *
 * @node-rs/crc32 uses the CPU's instruction. Slicing-by-8 in TypeScript is as fast at about 250 bytes
 * and three to eight times slower from 4 KiB on, the sizes of recovery and snapshots; figures in
 * docs/adr/0010-journal.md.
 */

import { crc32c as native } from "@node-rs/crc32";

export function crc32c(bytes: Uint8Array, seed = 0): number {
  return native(bytes, seed);
}
