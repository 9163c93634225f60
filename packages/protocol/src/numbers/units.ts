/**
 * Units: JSON numbers on the wire, safe integers inside.
 *
 * A price becomes ticks, a size lots, money micro-dollars (millionths of a dollar), and back.
 * Every conversion is exact or throws `NotInUnits`. The only tolerance is float noise: a price less than
 * a billionth of a tick away from a tick is that tick, because a client may send 3 × 0.1. Margin is
 * floored to a micro, as the contract states. The conversion back gives the shortest decimal: 650001
 * ticks of 0.1 are 65000.1.
 */

type UnitRule = "not_finite" | "not_positive" | "off_step" | "out_of_range";

export class NotInUnits extends RangeError {
  override readonly name = "NotInUnits";
  constructor(
    readonly rule: UnitRule,
    message: string,
  ) {
    super(message);
  }
}

export const MICROS_PER_DOLLAR = 1_000_000;
/** A double holds 10^22 exactly, so dividing a safe integer by up to it rounds once, correctly. */
const MAX_EXACT_POWER = 22;
const NOISE_DENOMINATOR = 1_000_000_000n;

/** A step such as a tick or a lot: `multiplier / divisor`, the divisor a power of ten. */
export interface Step {
  readonly size: number;
  readonly multiplier: number;
  readonly divisor: number;
}

export function stepOf(size: number): Step {
  if (!Number.isFinite(size)) throw new NotInUnits("not_finite", `step ${size} is not a number`);
  if (size <= 0) throw new NotInUnits("not_positive", `step ${size} must be above zero`);
  const { digits, scale } = decimalOf(size);
  const multiplier = digits * powerOfTen(Math.max(0, -scale));
  const places = Math.max(0, scale);
  if (places > MAX_EXACT_POWER || multiplier > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new NotInUnits("out_of_range", `step ${size} has too many digits`);
  }
  return { size, multiplier: Number(multiplier), divisor: Number(powerOfTen(places)) };
}

/** Price or size to whole steps; throws if it is a billionth of a step or more off. */
export function toSteps(value: number, step: Step): number {
  if (!Number.isFinite(value)) throw new NotInUnits("not_finite", `${value} is not a number`);
  if (value <= 0) throw new NotInUnits("not_positive", `${value} must be above zero`);
  const guess = Math.round(value / step.size);
  const product = guess * step.multiplier;
  // The common case: the number is exactly the double of this many steps.
  if (guess > 0 && Number.isSafeInteger(product) && product / step.divisor === value) return guess;
  return toStepsThroughNoise(value, step);
}

function toStepsThroughNoise(value: number, step: Step): number {
  const [numerator, unit] = alignDecimals(decimalOf(value), decimalOf(step.size));
  const steps = (2n * numerator + unit) / (2n * unit);
  const error = numerator - steps * unit;
  const distance = error < 0n ? -error : error;
  if (steps === 0n || distance * NOISE_DENOMINATOR >= unit) {
    throw new NotInUnits("off_step", `${value} is not a multiple of ${step.size}`);
  }
  return safeInteger(steps, value);
}

/** Whole steps to the shortest decimal; the sign is kept. */
export function fromSteps(steps: number, step: Step): number {
  const product = steps * step.multiplier;
  if (!Number.isSafeInteger(steps) || !Number.isSafeInteger(product)) {
    throw new NotInUnits("out_of_range", `${steps} × ${step.size} has no exact number`);
  }
  return product / step.divisor;
}

/** Dollars to micros, floored: money a client offers never grows by rounding. */
export function toMicrosFloor(dollars: number): number {
  if (!Number.isFinite(dollars)) throw new NotInUnits("not_finite", `${dollars} is not a number`);
  if (dollars < 0) throw new NotInUnits("not_positive", `${dollars} must not be negative`);
  const guess = Math.round(dollars * MICROS_PER_DOLLAR);
  if (Number.isSafeInteger(guess) && guess / MICROS_PER_DOLLAR === dollars) return guess;
  const { digits, scale } = decimalOf(dollars);
  const shift = 6 - scale;
  const micros = shift >= 0 ? digits * powerOfTen(shift) : digits / powerOfTen(-shift);
  return safeInteger(micros, dollars);
}

/** Micros to dollars, the shortest decimal; the sign is kept. */
export function fromMicros(micros: number): number {
  if (!Number.isSafeInteger(micros)) {
    throw new NotInUnits("out_of_range", `${micros} micros is outside the safe integers`);
  }
  return micros / MICROS_PER_DOLLAR;
}

/** The cost of one lot at one tick; tick × lot must be a whole number of micros. */
export function microsPerTickLot(tick: Step, lot: Step): number {
  const numerator = BigInt(tick.multiplier) * BigInt(lot.multiplier) * BigInt(MICROS_PER_DOLLAR);
  const denominator = BigInt(tick.divisor) * BigInt(lot.divisor);
  if (numerator % denominator !== 0n) {
    throw new NotInUnits("off_step", `${tick.size} × ${lot.size} is not a whole micro-dollar`);
  }
  return safeInteger(numerator / denominator, tick.size);
}

function safeInteger(value: bigint, origin: number): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new NotInUnits("out_of_range", `${origin} is too large`);
  }
  return Number(value);
}

/** `digits × 10^-scale`, with no trailing zero in `digits` unless the value is zero. */
interface Decimal {
  readonly digits: bigint;
  /** Negative for values with trailing zeros: 1200 is 12 × 10^2. */
  readonly scale: number;
}

/**
 * The decimal that was written for a finite double, taken from the shortest text that reads back as the
 * same double: 0.1 is one tenth, not the binary fraction next to it.
 */
export function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`);
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole + fraction);
  let scale = fraction.length - Number(exponent);
  if (digits === 0n) return { digits: 0n, scale: 0 };
  while (digits % 10n === 0n) {
    digits /= 10n;
    scale--;
  }
  return { digits, scale };
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** The two values over one common scale, so that they compare and divide as integers. */
export function alignDecimals(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * powerOfTen(scale - a.scale), b.digits * powerOfTen(scale - b.scale)];
}

/** Converts a market's integers into numbers of the wire. */
export interface UnitsOfMarket {
  readonly symbol: string;
  readonly tick: Step;
  readonly lot: Step;
  readonly microsPerTickLot: number;
}

/** Digits of an average that is not a whole tick. */
export const AVERAGE_DIGITS = 12;

/** The average price of `lots` that cost `micros`, rounded as on the wire; 0 for no lots. Both may be negative. */
export function averagePrice(market: UnitsOfMarket, micros: number, lots: number): number {
  if (lots === 0) return 0;
  const ticks = micros / (lots * market.microsPerTickLot);
  if (Number.isSafeInteger(ticks)) return fromSteps(ticks, market.tick);
  const price = (ticks * market.tick.multiplier) / market.tick.divisor;
  return Number(price.toPrecision(AVERAGE_DIGITS));
}
