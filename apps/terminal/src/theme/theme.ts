/**
 * Light or dark: the system's setting until the user chooses. Canvases cannot use custom properties,
 * so `readColours` resolves them; read them again when `theme` changes.
 */

import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";

type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");

export const theme = new Store<Theme>(chosen() ?? systemTheme(), "immediate");

export function startTheme(): void {
  const choice = chosen();
  if (choice !== undefined) document.documentElement.dataset.theme = choice;
  dark.addEventListener("change", () => {
    if (chosen() === undefined) theme.set(systemTheme());
  });
}

export function switchTheme(): void {
  const next: Theme = theme.get() === "dark" ? "light" : "dark";
  writePreference("theme", next);
  document.documentElement.dataset.theme = next;
  theme.set(next);
}

function chosen(): Theme | undefined {
  const stored = readPreference("theme");
  return stored === "light" || stored === "dark" ? stored : undefined;
}

function systemTheme(): Theme {
  return dark.matches ? "dark" : "light";
}

const NAMES = [
  "surface",
  "raised",
  "line",
  "line-strong",
  "text",
  "text-soft",
  "text-faint",
  "accent",
  "long",
  "long-hint",
  "short",
  "short-hint",
  "warn",
  "study-a",
  "study-b",
  "study-c",
] as const;

export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;

/** The colours as `rgb()`; the probe element makes the browser resolve `light-dark()`. */
export function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colours = Object.fromEntries(
    NAMES.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  // Its keys are NAMES, from which the type is derived.
  return colours as Colours;
}
