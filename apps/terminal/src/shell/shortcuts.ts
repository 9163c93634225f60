/** Keys that work anywhere on the page, except while typing and in dialogs. */

import { changeForm } from "../order/order-form-state.js";
import { userSettings } from "../state/user-settings.js";
import type { Terminal } from "../terminal.js";
import type { Texts } from "../text/en.js";
import { switchTheme } from "../theme/theme.js";

interface Shortcut {
  readonly key: string;
  readonly text: keyof Texts["settings"]["shortcutTexts"];
  run(terminal: Terminal): void;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { key: "?", text: "list", run: ({ dialog }) => dialog.set("shortcuts") },
  {
    key: "/",
    text: "search",
    run: () => press(".switcher[aria-expanded=false]"),
  },
  { key: "b", text: "buy", run: () => changeForm({ side: "long" }) },
  { key: "s", text: "sell", run: () => changeForm({ side: "short" }) },
  { key: "m", text: "market", run: () => changeForm({ type: "market" }) },
  { key: "l", text: "limit", run: () => changeForm({ type: "limit" }) },
  { key: "t", text: "stop", run: () => changeForm({ type: "stop" }) },
  { key: "n", text: "type", run: () => focus(".order-form .box input") },
  { key: "d", text: "theme", run: () => switchTheme() },
];

/** Keys 1 to 9 open the tabs of the portfolio. */
const TABS = /^[1-9]$/;

export function listenForShortcuts(terminal: Terminal): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const shortcut = SHORTCUTS.find(({ key }) => key === event.key.toLowerCase());
    if (shortcut === undefined && !TABS.test(event.key)) return;
    // The list of keys can always be read.
    if (!userSettings.get().hotkeys && event.key !== "?") return;
    event.preventDefault();
    if (shortcut !== undefined) shortcut.run(terminal);
    else press(`.portfolio [role=tab]:nth-child(${event.key})`);
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["radio", "checkbox", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function press(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.click();
}

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
