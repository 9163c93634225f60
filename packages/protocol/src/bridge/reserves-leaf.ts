/**
 * The leaf of a commitment to the venue's liabilities, in the tree of its block next to the leaves of orders and
 * withdrawals: the number of its kind and then these fields, each a little-endian double with a safe integer. It
 * is the engine's `ReservesCommitted` event.
 *
 * Block hashes depend on every byte: kind and order of fields never change.
 */

export const RESERVES_LEAF_KIND = 60;

export const RESERVES_LEAF_FIELDS = [
  /** The seq of the commitment. */
  "commitment",
  /** The seq after which the liabilities were counted. */
  "position",
  "leaves",
  "sumMicros",
  /** The root in five integers of six bytes, and one of two. */
  "root1",
  "root2",
  "root3",
  "root4",
  "root5",
  "root6",
  "block",
] as const;
type ReservesLeafField = (typeof RESERVES_LEAF_FIELDS)[number];

const WORD_BYTES = 8;
export const RESERVES_LEAF_BYTES = WORD_BYTES * (1 + RESERVES_LEAF_FIELDS.length);
const ROOT_PARTS = ["root1", "root2", "root3", "root4", "root5", "root6"] as const;
const PART_DIGITS = 12;
const ROOT_DIGITS = 64;

export interface ReservesLeaf {
  readonly commitment: number;
  readonly position: number;
  readonly leaves: number;
  readonly sumMicros: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  readonly block: number;
}

/** The root's fields in a leaf. */
export function rootWords(root: string): Record<(typeof ROOT_PARTS)[number], number> {
  const part = (i: number): number =>
    Number.parseInt(root.slice(i * PART_DIGITS, (i + 1) * PART_DIGITS), 16);
  return {
    root1: part(0),
    root2: part(1),
    root3: part(2),
    root4: part(3),
    root5: part(4),
    root6: part(5),
  };
}

/** The fields of a leaf; undefined if the bytes are not one. */
export function readReservesLeaf(bytes: Uint8Array): ReservesLeaf | undefined {
  if (bytes.length !== RESERVES_LEAF_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getFloat64(0, true) !== RESERVES_LEAF_KIND) return undefined;
  const word = (name: ReservesLeafField): number =>
    view.getFloat64(WORD_BYTES * (1 + RESERVES_LEAF_FIELDS.indexOf(name)), true);
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  if (!RESERVES_LEAF_FIELDS.every((name) => isCount(word(name)))) return undefined;
  const parts = ROOT_PARTS.map((name, i) => {
    const digits = Math.min(PART_DIGITS, ROOT_DIGITS - i * PART_DIGITS);
    return word(name).toString(16).padStart(digits, "0");
  });
  const root = parts.join("");
  if (root.length !== ROOT_DIGITS) return undefined;
  return {
    commitment: word("commitment"),
    position: word("position"),
    leaves: word("leaves"),
    sumMicros: word("sumMicros"),
    root,
    block: word("block"),
  };
}
