/**
 * A client's own id of an order, as integers: the engine, its events and the leaves of blocks hold
 * numbers only. Eight characters are one number in base 65, where 0 means that the id has ended; an id
 * of 36 characters takes five. Five zeros are no id.
 */

export const CLIENT_ORDER_ID_PATTERN = "^[A-Za-z0-9_-]{1,36}$";
export const CLIENT_ID_WORDS = 5;

const CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE = CHARACTERS.length + 1;
const CHARACTERS_PER_WORD = 8;
const VALID = new RegExp(CLIENT_ORDER_ID_PATTERN);

export type ClientIdWords = readonly [number, number, number, number, number];
export const NO_CLIENT_ID: ClientIdWords = [0, 0, 0, 0, 0];

/** The numbers of an id, or undefined for text that is none. The empty text is no id. */
export function clientIdWords(id: string): ClientIdWords | undefined {
  if (id === "") return NO_CLIENT_ID;
  if (!VALID.test(id)) return undefined;
  return [wordOf(id, 0), wordOf(id, 1), wordOf(id, 2), wordOf(id, 3), wordOf(id, 4)];
}

function wordOf(id: string, word: number): number {
  const first = word * CHARACTERS_PER_WORD;
  let value = 0;
  for (let i = Math.min(id.length, first + CHARACTERS_PER_WORD) - 1; i >= first; i--) {
    value = value * BASE + CHARACTERS.indexOf(id[i]!) + 1;
  }
  return value;
}

/** The id of these numbers, or null for none. */
export function clientIdOf(words: ClientIdWords): string | null {
  if (words[0] === 0) return null;
  let id = "";
  for (const word of words) {
    for (let left = word; left > 0; left = Math.floor(left / BASE)) {
      id += CHARACTERS.charAt((left % BASE) - 1);
    }
  }
  return id;
}
