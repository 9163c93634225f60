/**
 * Loaded with `--import`: makes the process a gateway that breaks its promises. It executes orders and
 * signs receipts as the honest build does, and seals something else: of the first acknowledgement nothing
 * is changed, the second is left out of its block, the third gets another position, of the fourth one
 * byte is changed; from then on the published headers of blocks are not those that receipts name.
 *
 * The build's own modules are changed while they are loaded, as `newer-release.mjs` does.
 */
import { register } from "node:module";

/** What the block and the history get instead of the acknowledgement at a position. */
const ACTS = `
const DISHONEST = (globalThis.dishonest ??= {
  seen: [],
  sealed(position, leaf) {
    if (!this.seen.includes(position)) this.seen.push(position);
    switch (this.seen.indexOf(position)) {
      case 1:
        return [];
      case 2:
        return [[position + 1, leaf]];
      case 3: {
        const changed = Uint8Array.from(leaf);
        changed[changed.length - 3] ^= 1;
        return [[position, changed]];
      }
      default:
        return [[position, leaf]];
    }
  },
  published(block) {
    return this.seen.length < 4 ? block : { ...block, timeMs: block.timeMs + 1 };
  },
});
`;

const hook = `
const ACTS = ${JSON.stringify(ACTS)};
const CHANGES = [
  // Its threads break the same promises.
  [/execArgv: \\[\\]/, ${JSON.stringify(`execArgv: ${JSON.stringify(["--import", import.meta.url])}`)}],
  [
    /this\\.lastLeafHash = this\\.acks\\.add\\(leafAt\\(words, at\\)\\);\\s*this\\.list\\.add\\(([^;]*), this\\.lastLeafHash\\);/,
    "for (const [place, leaf] of DISHONEST.sealed($1, leafAt(words, at))) this.list.add(place, this.acks.add(leaf));" +
      "this.lastLeafHash = new MerkleAccumulator().add(leafAt(words, at));",
  ],
  [/this\\.agree\\("acknowledgements", [^;]*;/, ""],
  [/(this\\.list\\.clear\\(\\);\\s*)return block;/, "$1return DISHONEST.published(block);"],
  // The store leaves out of a leaf what its place says, and the thread that reads it has seen nothing else.
  [/isPlainLeaf\\(order, seq,/, "isPlainLeaf(order, order === seq - 1 ? order : seq,"],
  [
    /this\\.sink\\.putAck\\(seq, leafAt\\(words, at\\), ([^;]*)\\);/,
    "for (const [place, leaf] of DISHONEST.sealed(seq, leafAt(words, at))) this.sink.putAck(place, leaf, $1);",
  ],
];
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (loaded.format !== "module" || loaded.source === null || loaded.source === undefined) return loaded;
  const text = Buffer.from(loaded.source).toString("utf8");
  const changed = CHANGES.reduce((before, [honest, dishonest]) => before.replace(honest, dishonest), text);
  return changed === text ? loaded : { ...loaded, source: ACTS + changed };
}
`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
