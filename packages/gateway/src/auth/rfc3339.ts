/**
 * RFC 3339 date-times to Unix milliseconds, strictly.
 *
 * `Date.parse` accepts other formats too and turns the 31st of February into March; two servers that
 * parse a time differently would disagree on whether a message is valid. Digits below a millisecond are
 * dropped. A second of 60 is accepted only at the end of a UTC day.
 */

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export function millisecondsOf(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (hour === undefined || minute === undefined || second === undefined) return undefined;
  const date = new Date(0);
  // Unlike Date.UTC, this does not map the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (match[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * MINUTE_MS;
  const fraction = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  const time = date.getTime() + (hour * 60 + minute) * MINUTE_MS + second * 1_000 - offset;
  // A leap second ends a UTC day; the sum is the first moment of the next day.
  if (second === 60 && time % DAY_MS !== 0) return undefined;
  return time + fraction;
}
