/**
 * Decodes query strings: the text of a property with an integer schema becomes a number if it is a plain
 * decimal, and is clamped where the schema says so. Any other text is left for the schema to reject. A
 * parameter that the operation does not take is refused: a misspelt filter must not return everything.
 */

import { CLAMPED_TO } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { TObject } from "typebox";

const INTEGER = /^-?(0|[1-9][0-9]*)$/;

type QueryDecoder = (raw: unknown) => Record<string, unknown>;

export function queryDecoderOf(schema: TObject): QueryDecoder {
  const known = new Map<string, object>(Object.entries(schema.properties));
  return (raw) => {
    const query: Record<string, unknown> = {};
    if (typeof raw !== "object" || raw === null) return query;
    for (const [name, text] of Object.entries(raw)) {
      const property = known.get(name);
      if (property === undefined) throw refuseUnknown(name, known);
      query[name] = decodeValue(property, text);
    }
    return query;
  };
}

function refuseUnknown(name: string, known: ReadonlyMap<string, object>): ApiError {
  const names = known.size === 0 ? "none" : [...known.keys()].join(", ");
  return new ApiError("unknown_parameter", { name, known: names }, { field: name });
}

function decodeValue(property: object, text: unknown): unknown {
  if (Reflect.get(property, "type") !== "integer") return text;
  if (typeof text !== "string" || !INTEGER.test(text)) return text;
  const value = Number(text);
  const ceiling: unknown = Reflect.get(property, CLAMPED_TO);
  return typeof ceiling === "number" ? Math.min(value, ceiling) : value;
}
