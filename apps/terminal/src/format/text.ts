/** Times (local time zone, 24-hour clock) and addresses as text. */

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const DAY = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short" });

export function formatClock(timeMs: number): string {
  return CLOCK.format(timeMs);
}

export function formatDayAndClock(timeMs: number): string {
  return `${DAY.format(timeMs)} ${CLOCK.format(timeMs)}`;
}

/** `41:07`, or `1:02:03` above an hour; never below zero. */
export function formatCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1_000));
  const hours = Math.floor(seconds / 3_600);
  const parts = [Math.floor((seconds % 3_600) / 60), seconds % 60];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return hours === 0 ? text : `${hours}:${text}`;
}

/** `1 order`, `2 orders`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `0x1234…abcd`. */
export function shortHex(hex: string): string {
  return hex.length <= 12 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}
