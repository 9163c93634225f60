/**
 * Text of a client as a message may repeat it. Without a bound one request could make the answer,
 * the log line and the frame carry its own 64 KB several times over.
 */

/** Longer than any key, symbol, path or address that means something here. */
const SHOWN_CHARACTERS = 64;

export function shownText(text: string, characters = SHOWN_CHARACTERS): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}
