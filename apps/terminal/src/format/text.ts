/** Times (local time zone, 24-hour clock) and addresses as text. */

import { type Language, LOCALES, language } from "../text/texts.js";

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const DAY = { day: "2-digit", month: "short" } as const;
const DAYS: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: new Intl.DateTimeFormat(LOCALES.en, DAY),
  de: new Intl.DateTimeFormat(LOCALES.de, DAY),
};

export function formatClock(timeMs: number): string {
  return CLOCK.format(timeMs);
}

export function formatDayAndClock(timeMs: number): string {
  return `${DAYS[language.get()].format(timeMs)} ${CLOCK.format(timeMs)}`;
}

/** `41:07`, or `1:02:03` above an hour; never below zero. */
export function formatCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1_000));
  const hours = Math.floor(seconds / 3_600);
  const parts = [Math.floor((seconds % 3_600) / 60), seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return hours === 0 ? text : `${hours}:${text}`;
}

/** `0x1234…abcd`. */
export function shortHex(hex: string): string {
  return hex.length <= 12 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}
