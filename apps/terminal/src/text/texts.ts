/**
 * The texts of the page in the trader's language. `t` changes with the language: code reads it when it
 * draws, never while its module is loaded. German is a file of its own that only a German page loads.
 */

import { readPreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { en, type Texts } from "./en.js";

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Their own names, in any language the same. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

/** Of dates: the British have the day before the month. */
export const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", de: "de-DE" };

/** The language of `t`. */
export const language = new Store<Language>("en", "immediate");

/** In the language that is shown. */
export let t: Texts = en;

/** The language that was asked for last: another one may still be loading. */
let wanted: Language = "en";

/** Rejects if the texts cannot be loaded; then the page stays as it is. */
export async function showLanguage(next: Language): Promise<void> {
  wanted = next;
  const texts = next === "de" ? (await import("./de.js")).de : en;
  if (wanted !== next) return;
  t = texts;
  document.documentElement.lang = next;
  language.set(next);
}

/** The trader's choice, or else German in a German browser. */
export function chosenLanguage(): Language {
  const kept = readPreference("language");
  const usual = /^de\b/i.test(navigator.language) ? "de" : "en";
  return LANGUAGES.find((each) => each === kept) ?? usual;
}

type Plural = Texts["counts"][keyof Texts["counts"]];

const RULES: Readonly<Record<Language, Intl.PluralRules>> = {
  en: new Intl.PluralRules("en"),
  de: new Intl.PluralRules("de"),
};

/** `1 order`, `2 orders`. */
export function countOf(count: number, forms: Plural): string {
  const form = RULES[language.get()].select(count) === "one" ? forms.one : forms.other;
  return form.replace("#", String(count));
}
