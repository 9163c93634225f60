/** A signed body as strict JSON, and the comparison of what it says with what the log has. */
import {
  LOCAL_BOUNDS,
  parseStrictJson,
  type Step,
  toMicrosFloor,
  toSteps,
} from "@perpgate/protocol/core";

export type BodyFields = ReadonlyMap<string, unknown>;

/** A field's name, what is signed and what is logged. */
export type Said = readonly [name: string, signed: unknown, logged: unknown];

/** The fields of a signed body, or why it has none. */
export function bodyFieldsOf(body: Uint8Array): BodyFields | string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return objectFields(parseStrictJson(text, LOCAL_BOUNDS)) ?? "the signed body is not an object";
  } catch (error) {
    return `the signed body cannot be read: ${messageOf(error)}`;
  }
}

export function objectFields(value: unknown): BodyFields | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/** The first difference, or null. `say` may throw for figures that are out of units. */
export function firstDifference(
  fields: BodyFields,
  known: ReadonlySet<string>,
  say: () => readonly Said[],
): string | null {
  for (const name of fields.keys()) if (!known.has(name)) return `the signed body has "${name}"`;
  try {
    for (const [name, signed, logged] of say()) {
      if (signed !== logged) return `${name}: signed ${signed}, logged ${logged}`;
    }
    return null;
  } catch (error) {
    return `the signed body is out of units: ${messageOf(error)}`;
  }
}

/** Steps of a number; `missing` for null or no value; undefined for anything else. */
export function stepsOfNumber(value: unknown, step: Step, missing: number): number | undefined {
  if (value === undefined || value === null) return missing;
  return typeof value === "number" ? toSteps(value, step) : undefined;
}

/** Micros, truncated toward zero. */
export function microsIn(value: unknown): number | undefined {
  if (typeof value !== "number") return undefined;
  return value < 0 ? -toMicrosFloor(-value) : toMicrosFloor(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
