/** Checks values that were read as JSON from disk. A missing field is checked as undefined. */
export function hasFields(
  value: unknown,
  checks: Readonly<Record<string, (field: unknown) => boolean>>,
): value is object {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return Object.entries(checks).every(([name, check]) => check(fields.get(name)));
}

export const isInteger = (field: unknown): boolean => Number.isSafeInteger(field);
export const isNumber = (field: unknown): boolean => typeof field === "number";
export const isText = (field: unknown): boolean => typeof field === "string";

export function isListOf(check: (item: unknown) => boolean): (field: unknown) => boolean {
  return (field) => Array.isArray(field) && field.every(check);
}

export function isOptional(check: (field: unknown) => boolean): (field: unknown) => boolean {
  return (field) => field === undefined || check(field);
}

/** Lower-case hex. */
export function isHexOf(digits: number): (field: unknown) => boolean {
  return (field) =>
    typeof field === "string" && field.length === digits && /^[0-9a-f]*$/.test(field);
}
