/**
 * What the page remembers between visits: how it looks and which market it shows. Nothing here is
 * secret, and nothing that is secret may ever be put here: keys and tokens live in memory alone.
 */

const PREFIX = "perpgate.";

export function readPreference(name: "theme" | "symbol" | "resolution"): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    // A browser may forbid storage; the page then starts afresh each time.
    return undefined;
  }
}

export function writePreference(name: "theme" | "symbol" | "resolution", value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // As above: not remembering is no failure.
  }
}
