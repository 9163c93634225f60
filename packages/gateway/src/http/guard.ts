/**
 * Type guards compiled by Ajv from TypeBox schemas.
 *
 * Nothing is coerced ("5" is not 5) and nothing is removed; defaults are filled in. The first violation
 * becomes an error that names the field.
 */

import { ApiError, CLAMPED_TO, PATTERN_WORDS, shownText } from "@perpgate/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { Static, TSchema } from "typebox";
import { compiledLater } from "./compiled-later.js";

const ajv = new Ajv({
  allErrors: false,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  // Inherited keys such as `constructor` do not count as present.
  ownProperties: true,
  // A batch names the kind of each operation; only that kind's violations are reported.
  discriminator: true,
  // Our own schemas, which openapi.test.ts checks: compiling the schema of schemas took 100 ms of the start.
  meta: false,
  validateSchema: false,
});
ajv.addKeyword(CLAMPED_TO);

interface Guard<T> {
  (value: unknown): value is T;
  /** The violations of the last value. */
  errors?: ValidateFunction["errors"];
}

/** Of a union the last branch's violations are reported: it allows all that the others do. */
export function guardOf<T extends TSchema>(schema: T): Guard<Static<T>> {
  const branches = branchesOf(schema);
  if (branches === undefined) return compiledGuard(schema);
  const guards = branches.map((branch) => compiledGuard(branch));
  const guard: Guard<Static<T>> = (value): value is Static<T> => {
    if (guards.some((isBranch) => isBranch(value))) return true;
    guard.errors = guards.at(-1)?.errors;
    return false;
  };
  return guard;
}

function branchesOf(schema: TSchema): readonly TSchema[] | undefined {
  return "anyOf" in schema && Array.isArray(schema.anyOf) ? schema.anyOf : undefined;
}

function compiledGuard<T extends TSchema>(schema: T): Guard<Static<T>> {
  const compiled = compiledLater(() => ajv.compile<Static<T>>(schema));
  const guard: Guard<Static<T>> = (value): value is Static<T> => {
    const validate = compiled();
    const isValid = validate(value);
    guard.errors = validate.errors;
    return isValid;
  };
  return guard;
}

export function refuseInvalid(errors: readonly ErrorObject[] | null | undefined): ApiError {
  // A union within a schema reports its branches first; the first one is the most common.
  const error = errors?.[0];
  if (error === undefined) return new ApiError("invalid_request", { problem: "Wrong shape" });
  const parent = error.instancePath.slice(1).replaceAll("/", ".");
  const { field, problem } = describe(error, parent);
  return new ApiError("invalid_request", { problem }, field === "" ? {} : { field });
}

function describe(error: ErrorObject, parent: string): { field: string; problem: string } {
  const params: Readonly<Record<string, unknown>> = error.params;
  if (error.keyword === "required") {
    const field = join(parent, String(params.missingProperty));
    return { field, problem: `${field} is missing` };
  }
  if (error.keyword === "additionalProperties") {
    const field = join(parent, shownText(String(params.additionalProperty)));
    return { field, problem: `${field} is not a known key` };
  }
  const name = parent === "" ? "The body" : parent;
  if (error.keyword === "enum" && Array.isArray(params.allowedValues)) {
    return { field: parent, problem: `${name} must be one of ${params.allowedValues.join(", ")}` };
  }
  if (error.keyword === "const") {
    return { field: parent, problem: `${name} must be ${JSON.stringify(params.allowedValue)}` };
  }
  const words = error.keyword === "pattern" ? PATTERN_WORDS.get(String(params.pattern)) : undefined;
  if (words !== undefined) return { field: parent, problem: `${name} must be ${words}` };
  return { field: parent, problem: `${name} ${error.message ?? "is wrong"}` };
}

function join(parent: string, key: string): string {
  return parent === "" ? key : `${parent}.${key}`;
}
