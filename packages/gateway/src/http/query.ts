/**
 * Decodes query strings: the text of a property with an integer schema becomes a number if it is a plain
 * decimal, and is clamped where the schema says so. Any other text is left for the schema to reject.
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
      // Unknown keys must not reach a handler.
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
