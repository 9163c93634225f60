/**
 * The kinds of fields in frames: each with its bound, its bytes and its words in the documentation. Both
 * sides check the bound: a frame that the other side would refuse is not sent.
 */

import type { Level } from "@perpgate/protocol";
import { type FrameReader, type FrameWriter, WrongValue } from "./bytes.js";

export interface Kind<T> {
  /** The kind and its bound, in the words of the documentation. */
  readonly words: string;
  write(to: FrameWriter, value: T): void;
  /** @throws WrongValue */
  read(from: FrameReader): T;
}

export type ValueOf<K> = K extends Kind<infer T> ? T : never;
export type FieldKinds = Readonly<Record<string, Kind<unknown>>>;
/** The values of fields; those of an `optional` field may be undefined. */
export type ValuesOf<F extends FieldKinds> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

/** A whole number from 0. */
export function count(max: number = Number.MAX_SAFE_INTEGER): Kind<number> {
  const check = (value: number): number => {
    if (Number.isSafeInteger(value) && value >= 0 && value <= max) return value;
    throw new WrongValue(`is ${value}; a whole number up to ${max} is allowed`);
  };
  return {
    words: max === Number.MAX_SAFE_INTEGER ? "count" : `count ≤ ${max}`,
    write: (to, value) => to.count(check(value)),
    read: (from) => check(from.count()),
  };
}

/** A whole number, negative too, that a double holds exactly. */
export const whole: Kind<number> = {
  words: "whole number",
  write: (to, value) => to.number(checkWhole(value)),
  read: (from) => checkWhole(from.number()),
};

function checkWhole(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new WrongValue(`is ${value}; a whole number below 2^53 is allowed`);
}

export const decimal: Kind<number> = {
  words: "number",
  write: (to, value) => to.number(checkFinite(value)),
  read: (from) => checkFinite(from.number()),
};

function checkFinite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new WrongValue(`is ${value}; a finite number is allowed`);
}

export const flag: Kind<boolean> = {
  words: "flag",
  write: (to, value) => to.byte(value ? 1 : 0),
  read: (from) => readFlag(from),
};

function readFlag(from: FrameReader): boolean {
  const byte = from.byte();
  if (byte > 1) throw new WrongValue(`is ${byte}; 0 or 1 is allowed`);
  return byte === 1;
}

/** UTF-8. */
export function text(maxBytes: number): Kind<string> {
  return {
    words: `text ≤ ${maxBytes} bytes`,
    write: (to, value) => {
      const length = Buffer.byteLength(value, "utf8");
      to.count(checkLength(length, maxBytes, "bytes"));
      to.text(value, length);
    },
    read: (from) => from.text(checkLength(from.count(), maxBytes, "bytes")),
  };
}

export function bytes(maxBytes: number): Kind<Uint8Array> {
  return {
    words: `≤ ${maxBytes} bytes`,
    write: (to, value) => {
      to.count(checkLength(value.length, maxBytes, "bytes"));
      to.raw(value);
    },
    read: (from) => from.raw(checkLength(from.count(), maxBytes, "bytes")),
  };
}

function checkLength(length: number, max: number, what: string): number {
  if (length <= max) return length;
  throw new WrongValue(`has ${length} ${what}; ${max} are allowed`);
}

/** One of the words. */
export function enumOf<const W extends readonly string[]>(words: W): Kind<W[number]> {
  const index = new Map<string, number>(words.map((word, i) => [word, i]));
  const read = (from: FrameReader): W[number] => {
    const word = words[from.count()];
    if (word === undefined) throw new WrongValue("is no word that is allowed");
    return word;
  };
  return {
    words: words.length > 12 ? `one of ${words.length} words` : words.join(", "),
    write: (to, value) => {
      const at = index.get(value);
      if (at === undefined) throw new WrongValue(`is ${value}; ${words.join(", ")} are allowed`);
      to.count(at);
    },
    read,
  };
}

export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    words: `${kind.words}, or none`,
    write: (to, value) => {
      flag.write(to, value !== undefined);
      if (value !== undefined) kind.write(to, value);
    },
    read: (from) => (flag.read(from) ? kind.read(from) : undefined),
  };
}

export function nullable<T>(kind: Kind<T>): Kind<T | null> {
  return {
    words: `${kind.words}, or null`,
    write: (to, value) => {
      flag.write(to, value !== null);
      if (value !== null) kind.write(to, value);
    },
    read: (from) => (flag.read(from) ? kind.read(from) : null),
  };
}

export function list<T>(kind: Kind<T>, max: number): Kind<readonly T[]> {
  return {
    words: `list of ≤ ${max} × (${kind.words})`,
    write: (to, values) => {
      to.count(checkLength(values.length, max, "entries"));
      for (const value of values) kind.write(to, value);
    },
    read: (from) => {
      const length = checkLength(from.count(), max, "entries");
      const values: T[] = [];
      // No list is reserved for what its bytes do not hold: an entry may be a constant of no bytes, so
      // the bound on entries counts, too.
      for (let i = 0; i < length; i++) values.push(kind.read(from));
      return values;
    },
  };
}

type Named<F extends FieldKinds> = {
  [N in keyof F]: { readonly name: N; readonly value: ValueOf<F[N]> };
}[keyof F];

/** A value of one of these kinds, with the name of its kind. */
export function named<F extends FieldKinds>(kinds: F): Kind<Named<F>>;
export function named(kinds: FieldKinds): Kind<{ readonly name: string; readonly value: unknown }> {
  const names = Object.keys(kinds);
  const name = enumOf(names);
  return {
    words: names.map((each) => `${each}: ${kinds[each]!.words}`).join(" │ "),
    write: (to, { name: own, value }) => {
      name.write(to, own);
      inside(own, () => kinds[own]!.write(to, value));
    },
    read: (from) => {
      const own = name.read(from);
      return { name: own, value: inside(own, () => kinds[own]!.read(from)) };
    },
  };
}

function inside<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw within(name, error);
  }
}

/** Levels of a book in ticks and lots; one of 0 lots is not there any more. */
export function levels(max: number): Kind<readonly Level[]> {
  return list(
    {
      words: "count of ticks, count of lots",
      write: (to, [ticks, lots]: Level) => {
        EACH.write(to, ticks);
        EACH.write(to, lots);
      },
      read: (from): Level => [EACH.read(from), EACH.read(from)],
    },
    max,
  );
}

const EACH = count();

/** The fields in the order of the table. */
export function record<F extends FieldKinds>(fields: F): Kind<ValuesOf<F>>;
export function record(fields: FieldKinds): Kind<Readonly<Record<string, unknown>>> {
  const names = Object.keys(fields);
  const kinds = Object.values(fields);
  return {
    words: names.map((name, i) => `${name}: ${kinds[i]!.words}`).join("; "),
    write: (to, values) => {
      let i = 0;
      try {
        for (; i < names.length; i++) kinds[i]!.write(to, values[names[i]!]);
      } catch (error) {
        throw within(names[i]!, error);
      }
    },
    read: (from) => {
      const values: Record<string, unknown> = {};
      let i = 0;
      try {
        for (; i < names.length; i++) values[names[i]!] = kinds[i]!.read(from);
      } catch (error) {
        throw within(names[i]!, error);
      }
      return values;
    },
  };
}

/** Adds the name of the field to what is wrong with its value. */
export function within(name: string, error: unknown): unknown {
  if (!(error instanceof WrongValue)) return error;
  const { message } = error;
  return new WrongValue(message.startsWith(".") ? `.${name}${message}` : `.${name} ${message}`);
}

export type Scalar = string | number | boolean | null;

/** Names with texts, numbers, flags or null: the values of a refusal. */
export function scalars(max: number): Kind<Readonly<Record<string, Scalar>>> {
  const name = text(64);
  const entries = list<readonly [string, Scalar]>(
    {
      words: "name, scalar",
      write: (to, [key, value]) => {
        name.write(to, key);
        SCALAR.write(to, value);
      },
      read: (from) => [name.read(from), SCALAR.read(from)],
    },
    max,
  );
  return {
    words: `≤ ${max} names with a text, number, flag or null`,
    write: (to, values) => entries.write(to, Object.entries(values)),
    read: (from) => Object.fromEntries(entries.read(from)),
  };
}

const TYPES = ["string", "number", "boolean", "null"] as const;
const TYPE = enumOf(TYPES);
const SCALAR_TEXT = text(4_096);
const SCALAR: Kind<Scalar> = {
  words: "text, number, flag or null",
  write: (to, value) => {
    if (typeof value === "string") {
      TYPE.write(to, "string");
      SCALAR_TEXT.write(to, value);
    } else if (typeof value === "number") {
      TYPE.write(to, "number");
      decimal.write(to, value);
    } else if (typeof value === "boolean") {
      TYPE.write(to, "boolean");
      flag.write(to, value);
    } else {
      TYPE.write(to, "null");
    }
  },
  read: (from) => {
    switch (TYPE.read(from)) {
      case "string":
        return SCALAR_TEXT.read(from);
      case "number":
        return decimal.read(from);
      case "boolean":
        return flag.read(from);
      case "null":
        return null;
    }
  },
};
