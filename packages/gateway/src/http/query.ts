/**
 * Query strings to values.
 *
 * A query holds text only, so a property whose schema is an integer is read from a plain decimal
 * here; this is the one place where text becomes a number, and only for text that is exactly one.
 * What is above a clamping ceiling becomes the ceiling. Anything else stays as it came, for the
 * schema to refuse by name.
 */

import { CLAMPED_TO } from "@perpgate/protocol";
import type { TObject } from "typebox";

const INTEGER = /^-?(0|[1-9][0-9]*)$/;

export type QueryDecoder = (raw: unknown) => Record<string, unknown>;

export function queryDecoderOf(schema: TObject): QueryDecoder {
  const known = new Map<string, object>(Object.entries(schema.properties));
  return (raw) => {
    const query: Record<string, unknown> = {};
    if (known.size === 0 || typeof raw !== "object" || raw === null) return query;
    for (const [name, text] of Object.entries(raw)) {
      // Keys the operation does not know are left out: they must not reach a handler.
      const property = known.get(name);
      if (property !== undefined) query[name] = decodeValue(property, text);
    }
    return query;
  };
}

function decodeValue(property: object, text: unknown): unknown {
  if (Reflect.get(property, "type") !== "integer") return text;
  if (typeof text !== "string" || !INTEGER.test(text)) return text;
  const value = Number(text);
  const ceiling: unknown = Reflect.get(property, CLAMPED_TO);
  return typeof ceiling === "number" ? Math.min(value, ceiling) : value;
}
