/**
 * Whether a response has the shape of its schema: the types of all values and every required key.
 *
 * Patterns, bounds and the values of an enumeration are not checked: a newer server may add a value,
 * and this client must keep working. Unknown keys are allowed for the same reason.
 */

import type { Static, TSchema } from "typebox";

export function hasShape<T extends TSchema>(schema: T, value: unknown): value is Static<T> {
  return matches(schema, value);
}

interface SchemaFacts {
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly items?: unknown;
  readonly anyOf?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
}

function matches(schema: SchemaFacts, value: unknown): boolean {
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.some((one) => isFacts(one) && matches(one, value));
  switch (typeOf(schema)) {
    case "object":
      return isRecord(value) && hasKeys(schema, value);
    case "array":
      return (
        Array.isArray(value) &&
        value.every((item) => !isFacts(schema.items) || matches(schema.items, item))
      );
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    default:
      return true;
  }
}

/** An enumeration or constant without a type has the type of its first value. */
function typeOf(schema: SchemaFacts): unknown {
  if (schema.type !== undefined) return schema.type;
  const example: unknown = Array.isArray(schema.enum) ? schema.enum[0] : schema.const;
  return example === undefined ? undefined : typeof example;
}

function hasKeys(
  { properties, required }: SchemaFacts,
  value: Readonly<Record<string, unknown>>,
): boolean {
  const isMissing = (key: unknown) => value[String(key)] === undefined;
  if (Array.isArray(required) && required.some(isMissing)) return false;
  if (!isRecord(properties)) return true;
  return Object.entries(properties).every(
    ([key, schema]) => value[key] === undefined || !isFacts(schema) || matches(schema, value[key]),
  );
}

function isFacts(value: unknown): value is SchemaFacts {
  return typeof value === "object" && value !== null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
