/**
 * The shared schemas of a document of the interface, OpenAPI or AsyncAPI.
 *
 * TypeBox schemas are JSON Schema already. A schema with a title becomes a component that is referred
 * to; any other is written where it is used.
 */

import { ERROR_CODES } from "@perpgate/protocol/core";

export type Json = Record<string, unknown>;

/** Lists that the schemas of the protocol leave out, because a client must not depend on them. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = { ErrorCode: ERROR_CODES };

export class SchemaComponents {
  readonly schemas: Json = {};

  refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    if (typeof schema !== "object" || schema === null) return schema;
    const entries = Object.entries(schema).map(([key, value]) => [key, this.refer(value)]);
    const plain = withType(Object.fromEntries(entries));
    const { title } = plain;
    if (typeof title !== "string") return plain;
    const values = ENUMERATIONS[title];
    this.schemas[title] ??= values === undefined ? plain : { ...plain, enum: [...values] };
    return { $ref: `#/components/schemas/${title}` };
  }
}

/** Generators want a type next to `enum`, which TypeBox leaves out. */
function withType(schema: Json): Json {
  const isOfWords = Array.isArray(schema.enum) && schema.enum.every((x) => typeof x === "string");
  return isOfWords && schema.type === undefined ? { type: "string", ...schema } : schema;
}
