/**
 * Makes text from a gateway safe for a terminal: an untrusted gateway must not move the cursor, change
 * the title or hide its text.
 */

// Control characters, line separators, and marks that change the direction of text.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\u{fffd}");
}
