/** What one check of `perpgate doctor` found. */

export type Status = "ok" | "warning" | "problem";

export interface Finding {
  readonly check: string;
  /** A warning may be meant; with a problem the venue does not start, or must not be relied on. */
  readonly status: Status;
  readonly found: string;
  /** What to do; undefined if there is nothing. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, status: "ok", found };
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, status: "warning", found, advice };
}

export function problem(check: string, found: string, advice: string): Finding {
  return { check, status: "problem", found, advice };
}
