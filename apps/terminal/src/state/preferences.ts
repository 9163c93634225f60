/**
 * Preferences kept between visits: theme, market, candle resolution. Never store secrets here: keys
 * and tokens stay in memory.
 */

const PREFIX = "perpgate.";

export function readPreference(name: "theme" | "symbol" | "resolution"): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    // The browser may forbid storage.
    return undefined;
  }
}

export function writePreference(name: "theme" | "symbol" | "resolution", value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // As above.
  }
}
