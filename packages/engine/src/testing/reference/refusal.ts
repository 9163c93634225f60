/**
 * A refusal on its way out: "A refused command emits exactly one event … (details 0 unless said)".
 */
import type { Refusal } from "../../reasons.js";

export interface Refused {
  readonly refusal: Refusal;
  readonly details: readonly number[];
}

export function refused(refusal: Refusal, ...details: number[]): Refused {
  return { refusal, details };
}
