/**
 * Numbers as text: prices with the digits of the tick, sizes with those of the lot, money with two.
 *
 * All locales get a decimal point: a decimal comma that depends on the browser's language leads to misread
 * prices. What stands between thousands is the trader's choice. Formats are cached because creating one is
 * slow.
 */

/** Between thousands: 1,234.5, 1 234.5 or 1234.5. */
export const SEPARATORS = [",", "\u202f", ""] as const;
export type Separator = (typeof SEPARATORS)[number];

let separator: Separator = ",";

/** From the next number on. */
export function separateThousandsBy(next: Separator): void {
  separator = next;
}

const formats = new Map<string, Intl.NumberFormat>();

function withDigits(minimum: number, maximum: number): Intl.NumberFormat {
  const key = `${minimum}:${maximum}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat("en-US", {
      minimumFractionDigits: minimum,
      maximumFractionDigits: maximum,
    });
    formats.set(key, format);
  }
  return format;
}

/** Shown where there is no number. */
export const NO_VALUE = "—";
const MINUS = "−";

/** In the trader's notation. */
function noted(text: string): string {
  const negative = text.replace("-", MINUS);
  return separator === "," ? negative : negative.replaceAll(",", separator);
}

/** Decimal places of a step such as 0.001. */
export function digitsOfStep(step: number): number {
  const [, exponent] = step.toExponential().split("e");
  const [mantissa = ""] = step.toExponential().split("e");
  const fraction = mantissa.split(".")[1]?.length ?? 0;
  return Math.max(0, fraction - Number(exponent));
}

export function formatFixed(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE;
  const text = withDigits(digits, digits).format(value);
  // What rounds to zero has no sign.
  return noted(isZero(text) ? text.replace("-", "") : text);
}

function isZero(text: string): boolean {
  return !/[1-9]/.test(text);
}

/** Two to six decimal places. */
export function formatFee(dollars: number): string {
  return noted(withDigits(2, 6).format(dollars));
}

export function formatDollars(dollars: number | null | undefined): string {
  return formatFixed(dollars, 2);
}

/** In whole micros first: 1.13 · 100 is less than 113. */
export function floorToCents(dollars: number): number {
  return Math.floor(Math.round(dollars * 1e6) / 1e4) / 100;
}

/** Rounded down: never shows more than there is. */
export function formatAvailable(dollars: number): string {
  return formatFixed(floorToCents(dollars), 2);
}

export function formatSigned(value: number | null | undefined, digits: number): string {
  const text = formatFixed(value, digits);
  return typeof value === "number" && value > 0 && !isZero(text) ? `+${text}` : text;
}

export function formatPercent(fraction: number | null | undefined, digits = 2): string {
  if (fraction === null || fraction === undefined) return NO_VALUE;
  return `${formatSigned(fraction * 100, digits)}%`;
}

const COMPACT = new Intl.NumberFormat("en-US", {
  notation: "compact",
  minimumFractionDigits: 0,
  maximumFractionDigits: 2,
});

export function formatCompact(value: number | null | undefined): string {
  return value === null || value === undefined ? NO_VALUE : noted(COMPACT.format(value));
}

export function formatMs(ms: number): string {
  return `${formatFixed(ms, ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** The CSS class for a gain or a loss; with digits, none for what rounds to zero. */
export function toneOf(value: number | null | undefined, digits?: number): "" | "long" | "short" {
  if (value === null || value === undefined || value === 0) return "";
  if (digits !== undefined && isZero(formatFixed(value, digits))) return "";
  return value > 0 ? "long" : "short";
}

/** Of a share that `formatPercent` shows with as many digits. */
export function percentTone(
  share: number | null | undefined,
  digits = 2,
): ReturnType<typeof toneOf> {
  return toneOf(share, digits + 2);
}
