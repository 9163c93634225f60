/**
 * Schema guards: Ajv compiled from a TypeBox schema, as a type guard for the inferred type.
 *
 * Nothing is coerced ("5" is not 5) and nothing is removed; the defaults that the contract states
 * are filled in. The first broken rule becomes one refusal that names the field.
 */

import { CLAMPED_TO, Refusal } from "@perpgate/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { Static, TSchema } from "typebox";

const ajv = new Ajv({
  allErrors: false,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  // A key that every object inherits is missing unless the client sent it.
  ownProperties: true,
});
ajv.addKeyword(CLAMPED_TO);

export function guardOf<T extends TSchema>(schema: T): ValidateFunction<Static<T>> {
  return ajv.compile<Static<T>>(schema);
}

export function refuseInvalid(errors: readonly ErrorObject[] | null | undefined): Refusal {
  // A union reports its branches before itself; the first branch is the one a client means.
  const error = errors?.[0];
  if (error === undefined) return new Refusal("invalid_request", { problem: "Wrong shape" });
  const parent = error.instancePath.slice(1).replaceAll("/", ".");
  const { field, problem } = describe(error, parent);
  return new Refusal("invalid_request", { problem }, field === "" ? {} : { field });
}

function describe(error: ErrorObject, parent: string): { field: string; problem: string } {
  const params: Readonly<Record<string, unknown>> = error.params;
  if (error.keyword === "required") {
    const field = join(parent, String(params.missingProperty));
    return { field, problem: `${field} is missing` };
  }
  if (error.keyword === "additionalProperties") {
    const field = join(parent, String(params.additionalProperty));
    return { field, problem: `${field} is not a known key` };
  }
  const name = parent === "" ? "The body" : parent;
  if (error.keyword === "enum" && Array.isArray(params.allowedValues)) {
    return { field: parent, problem: `${name} must be one of ${params.allowedValues.join(", ")}` };
  }
  return { field: parent, problem: `${name} ${error.message ?? "is wrong"}` };
}

function join(parent: string, key: string): string {
  return parent === "" ? key : `${parent}.${key}`;
}
