/**
 * Numbers as text for people: grouped thousands, as many decimals as the market's step, a sign for
 * gains. Independent of the locale, so that a table is the same everywhere.
 */

const NONE = "-";

/** The number of decimals of a tick or lot. */
export function decimalsOf(step: number): number {
  const [mantissa = "", exponent = "0"] = String(step).split("e");
  const [, fraction = ""] = mantissa.split(".");
  return Math.min(20, Math.max(0, fraction.length - Number(exponent)));
}

export function fixed(value: number | null, decimals: number): string {
  if (value === null || !Number.isFinite(value)) return NONE;
  const text = Math.abs(value).toFixed(decimals);
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  // A number that rounds to zero has no sign.
  const sign = value < 0 && /[1-9]/.test(text) ? "-" : "";
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** Dollars and cents; below a cent with micro-dollars. */
export function money(value: number | null): string {
  if (value === null) return NONE;
  const isSmall = value !== 0 && Math.abs(value) < 0.01;
  return isSmall ? fixed(value, 6) : fixed(value, 2);
}

/** Two to six decimals: fees are small. */
export function fee(value: number): string {
  return fixed(value, 6).replace(/(\.\d{2}\d*?)0+$/, "$1");
}

export function signed(value: number, text: (value: number) => string): string {
  return value > 0 ? `+${text(value)}` : text(value);
}

export function percent(rate: number | null, decimals = 4): string {
  return rate === null ? NONE : `${fixed(rate * 100, decimals)} %`;
}

export function latency(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}

/** `2026-11-15 07:01:22`, in UTC. */
export function time(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return NONE;
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** `3 h 20 min`, `45 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
