/**
 * Query integers that page through lists.
 *
 * The contract clamps what is above the maximum and refuses what is below one or not an integer,
 * so the schema has a minimum and no maximum; `clampedTo` carries the ceiling to the decoder and
 * into the OpenAPI document.
 */

import { Type } from "typebox";

/** The keyword under which a schema carries the ceiling it clamps to. */
export const CLAMPED_TO = "x-clamped-to";

export function ClampedInteger(defaultValue: number, ceiling: number, description: string) {
  return Type.Integer({
    minimum: 1,
    default: defaultValue,
    [CLAMPED_TO]: ceiling,
    description: `${description}, 1 to ${ceiling}; above is clamped.`,
  });
}

export const Depth = ClampedInteger(50, 5000, "Levels per side");
export const Limit = ClampedInteger(100, 1000, "Entries at most");
