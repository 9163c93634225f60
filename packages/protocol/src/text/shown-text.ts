/**
 * Text of a client, cut so that a message may repeat it. Without a bound one request could put its
 * 64 KB into the response, the log line and the frame, several times.
 */

/** Longer than any valid key, symbol, path or address. */
const SHOWN_CHARACTERS = 64;

export function shownText(text: string, characters = SHOWN_CHARACTERS): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}
