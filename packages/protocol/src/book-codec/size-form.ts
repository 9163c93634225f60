/**
 * The form in which a size takes the fewest bits.
 *
 * Traders prefer round numbers, and a size is round in lots (2.5 coins) or in money, since an order's
 * size is its margin × leverage divided by the price. So a size is sent as
 * `mantissa × 10^zeros`, either of lots, or of tick × lot, to be divided by the level's tick and
 * rounded down. The encoder chooses the form; the decoder accepts any.
 */

import { type Level, MAX_ZEROS, POWERS_OF_TEN } from "./layout.js";

/** The money form is used only if it shortens the number by at least this factor (six bits). */
const MONEY_WORTHWHILE = 64;
/** One number in ten ends in 0 by chance; above this share, a single zero is split off too. */
const TENS_SHARE = 0.25;

export interface SizeForm {
  mantissa: number;
  zeros: number;
  money: boolean;
}

/** Minimum number of decimal zeros that are split off in this side. */
export function fewestZeros(levels: readonly Level[]): number {
  let tens = 0;
  for (const level of levels) if (level[1] % 10 === 0 && level[1] > 0) tens++;
  return tens > levels.length * TENS_SHARE ? 1 : 2;
}

/** Fills `form`, which the caller reuses: this runs for every level of every snapshot. */
export function chooseForm(tick: number, lots: number, zerosNeeded: number, form: SizeForm): void {
  form.mantissa = lots;
  form.zeros = 0;
  form.money = false;
  if (lots < 10) return;
  splitZeros(lots, zerosNeeded, form);
  tryMoney(tick, lots, form);
}

function splitZeros(lots: number, zerosNeeded: number, form: SizeForm): void {
  if (lots % 10 !== 0 || lots % POWERS_OF_TEN[zerosNeeded]! !== 0) return;
  let zeros = zerosNeeded;
  while (zeros < MAX_ZEROS && lots % POWERS_OF_TEN[zeros + 1]! === 0) zeros++;
  form.mantissa = lots / POWERS_OF_TEN[zeros]!;
  form.zeros = zeros;
}

/**
 * All amounts from lots × tick up to, not including, (lots + 1) × tick give these lots. The roundest
 * of them is the shortest to send. Above 2^53 the decoder's division would not be exact.
 */
function tryMoney(tick: number, lots: number, form: SizeForm): void {
  const least = lots * tick;
  const most = least + tick - 1;
  if (!(most <= Number.MAX_SAFE_INTEGER)) return;
  let zeros = 0;
  while (zeros <= MAX_ZEROS && POWERS_OF_TEN[zeros]! * form.mantissa < least * MONEY_WORTHWHILE) {
    zeros++;
  }
  while (zeros <= MAX_ZEROS) {
    const mantissa = Math.floor(most / POWERS_OF_TEN[zeros]!);
    if (mantissa * POWERS_OF_TEN[zeros]! < least) return;
    form.mantissa = mantissa;
    form.zeros = zeros;
    form.money = true;
    zeros++;
  }
}
