/**
 * Query integers that page through lists.
 *
 * A value above the maximum is clamped to it; one below 1 or not an integer is rejected. So the schema
 * has a minimum and no maximum; `clampedTo` passes the maximum to the decoder and to the OpenAPI
 * document.
 */

import { Type } from "typebox";

/** The schema keyword with the maximum. */
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
