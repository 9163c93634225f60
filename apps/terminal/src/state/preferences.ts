/**
 * Preferences kept between visits, such as theme, market and layout. Never store secrets here: they are
 * in memory, or in `kept-store.ts` if the user stays signed in.
 */

const PREFIX = "perpgate.";

export type PreferenceName =
  | "theme"
  | "symbol"
  | "resolution"
  | "stay"
  | "max-slippage"
  | "confirm-above"
  | "ask-first"
  | "studies"
  | "drawings"
  | "favourites"
  | "alerts"
  | "notifies"
  | "sounds"
  | "hotkeys"
  | "warns-at"
  | "separator"
  | "language"
  | "portfolio-tab"
  | "portfolio-height"
  | "side-panel"
  | "view"
  /** What `kept-store.ts` has still to delete. */
  | "forget-session"
  | "forget-burner";

export function readPreference(name: PreferenceName): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    // The browser may forbid storage.
    return undefined;
  }
}

export function writePreference(name: PreferenceName, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // As above.
  }
}

export function endPreference(name: PreferenceName): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // As above.
  }
}
