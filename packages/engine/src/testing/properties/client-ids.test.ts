/** The index of client ids against a plain list, with ids whose keys collide and ids that do not. */
import { type ClientIdWords, clientIdWords } from "@perpgate/protocol/client-order-id";
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { ClientIdIndex } from "../../state/client-ids.js";
import { NONE } from "../../state/id-index.js";

interface Entry {
  readonly account: number;
  readonly words: ClientIdWords;
}

/** As if all keys were equal: the hash of an account and an id that never change. */
class Colliding extends ClientIdIndex {
  protected override keyFor(): number {
    return 7;
  }
}

for (const [name, Index] of [
  ["its own keys", ClientIdIndex],
  ["equal keys", Colliding],
] as const) {
  test(`${name}: finds what was added and not removed`, () => {
    const random = new Random(11, name);
    const entries: Entry[] = [];
    const index = new Index({
      account: (order) => entries[order]!.account,
      clientId: (order) => entries[order]!.words,
    });
    const open = new Set<number>();
    for (let step = 0; step < 4_000; step++) {
      const words = clientIdWords(`c${random.int(0, 30)}`)!;
      const account = random.int(1, 3);
      const known = [...open].find(
        (order) => entries[order]!.account === account && entries[order]!.words[0] === words[0],
      );
      expect(index.find(account, words)).toBe(known ?? NONE);
      if (known === undefined) {
        entries.push({ account, words });
        open.add(entries.length - 1);
        index.add(entries.length - 1);
      } else if (random.chance(0.7)) {
        open.delete(known);
        index.remove(known);
      }
    }
    index.clear();
    expect(index.find(1, clientIdWords("c1")!)).toBe(NONE);
  });
}
