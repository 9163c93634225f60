/** C2SP tlog-tiles: where the hashes of a log's tree and its entries are served. */

import { rootOfLeafHashes, type Subtree, TREE_HASH_BYTES } from "./tree.js";

/** Hashes in a full tile, and levels of the tree in one. */
export const TILE_HASHES = 256;
export const TILE_LEVELS = 8;

export interface Tile {
  /** Of tiles: 0 holds hashes of leaves. */
  readonly level: number;
  readonly index: number;
  /** 256 for a full tile. */
  readonly width: number;
}

/** The tile that holds what a subtree's hash is made of, in a tree of `size` leaves. */
export function tileOf({ level, index }: Subtree, size: number): Tile {
  const tileLevel = Math.floor(level / TILE_LEVELS);
  const first = index * 2 ** (level % TILE_LEVELS);
  return tileAt(tileLevel, Math.floor(first / TILE_HASHES), size);
}

/** The tile with that place in a tree of `size` leaves; its width is 0 if the tree has none there. */
export function tileAt(level: number, index: number, size: number): Tile {
  const hashes = Math.floor(size / TILE_HASHES ** level) - index * TILE_HASHES;
  return { level, index, width: Math.max(0, Math.min(TILE_HASHES, hashes)) };
}

/** The hash of a complete subtree from the bytes of its `tileOf`. @throws RangeError if it is not there. */
export function hashInTile({ level, index }: Subtree, tile: Uint8Array): Uint8Array {
  const count = 2 ** (level % TILE_LEVELS);
  const first = (index * count) % TILE_HASHES;
  const hashes = Array.from({ length: count }, (_, i) => {
    const at = (first + i) * TREE_HASH_BYTES;
    const hash = tile.subarray(at, at + TREE_HASH_BYTES);
    if (hash.length !== TREE_HASH_BYTES) throw new RangeError("the tile is too short");
    return hash;
  });
  return rootOfLeafHashes(hashes);
}

/** `tile/0/x001/067`, with `.p/<width>` if it is partial; `entries` for the entries themselves. */
export function tilePath({ level, index, width }: Tile, isEntries = false): string {
  const suffix = width === TILE_HASHES ? "" : `.p/${width}`;
  return `tile/${isEntries ? "entries" : level}/${tileNumber(index)}${suffix}`;
}

function tileNumber(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.{3}/g) ?? [];
  return groups.map((group, i) => (i === groups.length - 1 ? group : `x${group}`)).join("/");
}

const TILE_PATH =
  /^tile\/(entries|[0-9]|[1-5][0-9]|6[0-3])\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** The tile that a path names; undefined for any other path. */
export function parseTilePath(
  path: string,
): { readonly tile: Tile; readonly isEntries: boolean } | undefined {
  const [, level = "", number = "", partial] = TILE_PATH.exec(path) ?? [];
  const index = Number(number.replaceAll(/[x/]/g, ""));
  const width = partial === undefined ? TILE_HASHES : Number(partial);
  const isEntries = level === "entries";
  const tile = { level: isEntries ? 0 : Number(level), index, width };
  if (level === "" || !Number.isSafeInteger(index) || width > TILE_HASHES) return undefined;
  return tilePath(tile, isEntries) === path ? { tile, isEntries } : undefined;
}

/** The entries of a bundle: each after its length, two bytes, big-endian. Undefined if it is malformed. */
export function entriesOf(bundle: Uint8Array): Uint8Array[] | undefined {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bundle.length; ) {
    const end = at + 2 + ((bundle[at]! << 8) | (bundle[at + 1] ?? 0));
    if (at + 2 > bundle.length || end > bundle.length) return undefined;
    entries.push(bundle.slice(at + 2, end));
    at = end;
  }
  return entries;
}
