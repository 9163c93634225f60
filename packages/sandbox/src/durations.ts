/** Times in the words of a test: milliseconds, or text such as `"1h"`, `"2s"`, `"1h30m"`. */

export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PART = /(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])/y;
/** A venue lives no longer than a session may: a step beyond it is a mistake of units. */
const MAX_MS = 366 * 86_400_000;

/** @throws RangeError for a text that is no duration. */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === "number" ? duration : parsed(duration);
  if (!(ms >= 0 && ms <= MAX_MS)) {
    throw new RangeError(`a duration is 0 to 366 days, not ${String(duration)}`);
  }
  return Math.round(ms);
}

function parsed(text: string): number {
  let total = 0;
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const [part = "", number = "", unit = ""] = PART.exec(text) ?? [];
    if (part === "") break;
    total += Number(number) * (UNITS[unit] ?? Number.NaN);
    at += part.length;
  }
  if (text !== "" && at === text.length) return total;
  throw new RangeError(
    `${JSON.stringify(text)} is no duration: write numbers with ms, s, m, h or d, such as "1h30m"`,
  );
}
