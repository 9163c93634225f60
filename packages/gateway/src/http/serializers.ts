/** Writes values as JSON by their schemas: properties that are not in the schema are not sent. */

import fastJson from "fast-json-stringify";
import type { TSchema } from "typebox";
import { compiledLater } from "./compiled-later.js";

export type Serialize = (value: unknown) => string;

/** By schema: the gateways of a process share them. */
const serializers = new WeakMap<TSchema, Serialize>();

export function serializerOf(schema: TSchema): Serialize {
  const known = serializers.get(schema);
  if (known !== undefined) return known;
  const compiled = compiledLater(() => fastJson(schema));
  const serialize: Serialize = (value) => compiled()(value);
  serializers.set(schema, serialize);
  return serialize;
}
