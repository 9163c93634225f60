/** The index of client ids against a plain list, with ids whose keys collide and ids that do not. */
import {
  type ClientIdWords,
  clientIdOf,
  clientIdWords,
  NO_CLIENT_ID,
} from "@perpgate/protocol/client-order-id";
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { ClientIdIndex } from "../../state/client-ids.js";
import { NONE } from "../../state/id-index.js";
import type { HashSeed } from "../../state/seeded-hash.js";

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

test("ids whose unseeded keys are equal, of many accounts, do not share an entry", () => {
  const entries = Array.from({ length: 64 }, (_, i) => idMeetingFirst(i + 1));
  expect(
    new Set(entries.map(({ account, words }) => String(unseededHash(account, words)))).size,
  ).toBe(1);
  let lookedAt = 0;
  const index = new ClientIdIndex({
    account: (order) => {
      lookedAt++;
      return entries[order]!.account;
    },
    clientId: (order) => entries[order]!.words,
  });
  for (const order of entries.keys()) index.add(order);
  lookedAt = 0;
  for (const [order, { account, words }] of entries.entries()) {
    expect(index.find(account, words)).toBe(order);
  }
  expect(lookedAt).toBe(entries.length);
});

test("another seed gives other keys", () => {
  class Keys extends ClientIdIndex {
    override keyFor(account: number, words: ClientIdWords): number {
      return super.keyFor(account, words);
    }
  }
  const nothing = { account: () => 0, clientId: () => NO_CLIENT_ID };
  const keys = (seed: HashSeed): number[] => {
    const index = new Keys(nothing, seed);
    return Array.from({ length: 100 }, (_, i) => index.keyFor(i, clientIdWords(`c${i % 10}`)!));
  };
  const all = [...keys([1, 2]), ...keys([1, 3]), ...keys([2, 2])];
  expect(new Set(all).size).toBe(300);
  for (const key of all) expect(key >= 1 && key <= 2 ** 52 && Number.isInteger(key)).toBe(true);
});

const HIGH_FACTOR = 0x2c1b_3c6d;
const LOW_FACTOR = 0x297a_2d39;
const HIGH_INVERSE = inverse(HIGH_FACTOR);
const LOW_INVERSE = inverse(LOW_FACTOR);

/** A hash without a seed: everybody can compute ids of which it is the same. */
function unseededHash(account: number, words: readonly number[]): [high: number, low: number] {
  let high = Math.imul(account ^ 0x9e37_79b9, 0x85eb_ca6b);
  let low = Math.imul(account ^ 0x7f4a_7c15, 0xc2b2_ae35);
  for (const word of words) {
    high = Math.imul(high ^ (word | 0) ^ (high >>> 15), HIGH_FACTOR);
    low = Math.imul(low ^ ((word / 2 ** 32) | 0) ^ high ^ (low >>> 13), LOW_FACTOR);
  }
  return [high, low];
}

/** An id of the account whose unseeded hash is that of an id of account 1. */
function idMeetingFirst(account: number): Entry {
  const first = clientIdWords("abcdefghijklmnop")!;
  const [high, low] = unseededHash(1, first.slice(0, 2));
  for (let word = first[0]; ; word++) {
    const [h, l] = unseededHash(account, [word]);
    const upper = (Math.imul(low, LOW_INVERSE) ^ l ^ high ^ (l >>> 13)) >>> 0;
    // Eight characters are a number below 65^8.
    if (upper > 74_000) continue;
    const lower = (Math.imul(high, HIGH_INVERSE) ^ h ^ (h >>> 15)) >>> 0;
    const words: ClientIdWords = [word, upper * 2 ** 32 + lower, 0, 0, 0];
    if (String(clientIdWords(clientIdOf(words) ?? "")) === String(words)) return { account, words };
  }
}

/** Of an odd number, modulo 2^32: each step doubles the bits that are right. */
function inverse(odd: number): number {
  let x = odd;
  for (let step = 0; step < 5; step++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}
