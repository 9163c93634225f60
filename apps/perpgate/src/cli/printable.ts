/**
 * Text from elsewhere, made fit for a terminal: a gateway that is not ours must not move the cursor,
 * change the title or hide what it wrote.
 */

// Control characters of both ranges, and those that turn the direction of writing.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\u{fffd}");
}
