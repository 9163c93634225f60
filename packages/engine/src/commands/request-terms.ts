/**
 * Of a request that nobody signs. Its edge makes the id and sends the request again, to the core that leads
 * then, until it has an answer: the engine executes it once, and never after `notAfterMs`.
 */
export interface UnsignedTerms {
  /** Lower-case hex, 32 digits. */
  readonly id: string;
  readonly notAfterMs: number;
}

/** A command of such a request; without terms it is executed each time. From version 3 of the rules. */
export interface Unsigned {
  readonly request?: UnsignedTerms;
}
