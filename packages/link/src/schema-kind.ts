/**
 * The kind of a value that the contract has a schema of: what an operation takes and returns crosses the
 * link in the shape that the contract gives it, without a second description.
 */

import type { Static, TSchema } from "typebox";
import { type FrameReader, type FrameWriter, WrongValue } from "./bytes.js";
import {
  count,
  decimal,
  flag,
  type Kind,
  list,
  nullable,
  scalars,
  text,
  whole,
  within,
} from "./kinds.js";

/** Of texts and lists whose schema has no bound: more than any of the venue's answers holds. */
const MAX_TEXT_BYTES = 1 << 20;
const MAX_ENTRIES = 1 << 20;
const MAX_DETAILS = 64;

export function shaped<S extends TSchema>(schema: S): Kind<Static<S>>;
export function shaped(schema: TSchema): Kind<unknown> {
  const kind = kindOf(schema);
  const { title } = read(schema);
  return typeof title === "string" ? { ...kind, words: title } : kind;
}

type Json = Readonly<Record<string, unknown>>;

function read(schema: unknown): Json {
  if (isObject(schema)) return schema;
  throw new TypeError("a schema is not an object");
}

function kindOf(schema: unknown): Kind<unknown> {
  const { anyOf, oneOf, type, enum: words, const: constant, properties, items } = read(schema);
  if (Array.isArray(anyOf)) return kindOfUnion(anyOf);
  if (Array.isArray(oneOf)) return kindOfVariants(oneOf);
  if (Array.isArray(words)) return choice(words);
  if (constant !== undefined) return choice([constant]);
  if (isObject(properties)) return kindOfObject(properties, read(schema));
  if (isObject(items)) return kindOfList(items, read(schema));
  switch (type) {
    case "string":
      return only(isText, text(boundOf(read(schema).maxLength, MAX_TEXT_BYTES)));
    case "integer":
      return only(isNumber, whole);
    case "number":
      return only(isNumber, decimal);
    case "boolean":
      return only(isFlag, flag);
    case "object":
      return only(isScalars, scalars(MAX_DETAILS));
    default:
      throw new TypeError(`no kind for a schema of type ${String(type)}`);
  }
}

/** Characters of UTF-16 have at most three bytes each. */
function boundOf(maxLength: unknown, otherwise: number): number {
  return typeof maxLength === "number" ? 3 * maxLength : otherwise;
}

function kindOfUnion(branches: readonly unknown[]): Kind<unknown> {
  const others = branches.filter((branch) => read(branch).type !== "null");
  if (others.length === branches.length) return kindOfEither(branches);
  if (others.length !== 1 || branches.length !== 2) {
    throw new TypeError("a union with null has a kind only if it is of one other schema");
  }
  return nullable(kindOf(others[0]));
}

/** Of two objects, of which the second has constants that the first one's values never equal. */
function kindOfEither(branches: readonly unknown[]): Kind<unknown> {
  const [first, second, ...more] = branches;
  const constants = Object.entries(read(read(second).properties)).flatMap(([name, schema]) => {
    const { const: constant } = read(schema);
    return constant === undefined ? [] : [{ name, constant }];
  });
  if (constants.length === 0 || more.length > 0) {
    throw new TypeError("a union has a kind only if its second and last schema has constants");
  }
  const kinds = [kindOf(first), kindOf(second)] as const;
  return {
    words: kinds.map(({ words }) => words).join(" or "),
    write: (to, value) => {
      const object = isObject(value) ? value : {};
      const isSecond = constants.every(({ name, constant }) => object[name] === constant);
      flag.write(to, isSecond);
      kinds[isSecond ? 1 : 0].write(to, value);
    },
    read: (from) => kinds[flag.read(from) ? 1 : 0].read(from),
  };
}

function kindOfList(items: unknown, { maxItems }: Json): Kind<unknown> {
  return only(isList, list(kindOf(items), typeof maxItems === "number" ? maxItems : MAX_ENTRIES));
}

/** Words or other constants, by their index. */
function choice(values: readonly unknown[]): Kind<unknown> {
  const index = count(values.length - 1);
  const isAlone = values.length === 1;
  return {
    words: values.map(String).join(", "),
    write: (to, value) => {
      const at = values.indexOf(value);
      if (at < 0) throw new WrongValue(`is ${String(value)}; ${values.join(", ")} are allowed`);
      if (!isAlone) index.write(to, at);
    },
    read: (from) => (isAlone ? values[0] : values[index.read(from)]),
  };
}

/** Objects that differ in the constant of their first property. */
function kindOfVariants(variants: readonly unknown[]): Kind<unknown> {
  const kinds = variants.map(kindOf);
  const tags = variants.map((variant) => {
    const [name, schema] = Object.entries(read(read(variant).properties))[0] ?? ["", {}];
    return { name, constant: read(schema).const };
  });
  const index = count(kinds.length - 1);
  return {
    words: tags.map(({ name, constant }) => `${name} ${String(constant)}`).join(", "),
    write: (to, value) => {
      const object = isObject(value) ? value : {};
      const at = tags.findIndex(({ name, constant }) => object[name] === constant);
      if (at < 0) throw new WrongValue("is no variant that is allowed");
      index.write(to, at);
      kinds[at]!.write(to, value);
    },
    read: (from) => kinds[index.read(from)]!.read(from),
  };
}

/** A bit for each property that may be missing, then the properties in the order of the schema. */
function kindOfObject(properties: Json, { required }: Json): Kind<unknown> {
  const names = Object.keys(properties);
  const kinds = Object.values(properties).map(kindOf);
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const isOptional = names.map((name) => !needed.includes(name));
  const optionalCount = isOptional.filter(Boolean).length;
  const presence = count(2 ** optionalCount - 1);
  const write = (to: FrameWriter, values: Json): void => {
    if (optionalCount > 0) presence.write(to, present(values));
    let i = 0;
    try {
      for (; i < names.length; i++) {
        const value = values[names[i]!];
        if (value !== undefined) kinds[i]!.write(to, value);
        else if (!isOptional[i]) throw new WrongValue("is missing");
      }
    } catch (error) {
      throw within(names[i]!, error);
    }
  };
  const present = (values: Json): number => {
    let bits = 0;
    let bit = 1;
    for (let i = 0; i < names.length; i++) {
      if (!isOptional[i]) continue;
      if (values[names[i]!] !== undefined) bits += bit;
      bit *= 2;
    }
    return bits;
  };
  const readAll = (from: FrameReader): Json => {
    let bits = optionalCount > 0 ? presence.read(from) : 0;
    const values: Record<string, unknown> = {};
    let i = 0;
    try {
      for (; i < names.length; i++) {
        if (isOptional[i]) {
          const isPresent = bits % 2 === 1;
          bits = Math.floor(bits / 2);
          if (!isPresent) continue;
        }
        values[names[i]!] = kinds[i]!.read(from);
      }
    } catch (error) {
      throw within(names[i]!, error);
    }
    return values;
  };
  const words = names.join(", ") || "nothing";
  return only(isObject, { words: `{ ${words} }`, write, read: readAll });
}

function only<T>(is: (value: unknown) => value is T, kind: Kind<T>): Kind<unknown> {
  return {
    words: kind.words,
    write: (to, value) => {
      if (!is(value)) throw new WrongValue(`is a ${typeof value}; ${kind.words} is allowed`);
      kind.write(to, value);
    },
    read: (from) => kind.read(from),
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isScalars(value: unknown): value is Readonly<Record<string, string | number>> {
  return isObject(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}
