/**
 * In which parts accounts of one side of a market are deleveraged: winners in proportion to their
 * unrealised profit; where none is left, the others in proportion to their lots (docs/engine.md,
 * "Liquidating", step 3b). The weights of all accounts, and their sums by blocks, are computed once a tick
 * and kept up to date with the positions that change, so one division costs the blocks and the accounts
 * that it takes from.
 */
import { assertSafe, divCeil, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import type { Market } from "../state/market.js";
import { float64 } from "../state/memory.js";
import { NONE } from "../state/orders.js";
import type { VenueTables } from "../state/venue-tables.js";
import { refreshWatches } from "./watch.js";

/** Accounts whose weights are summed together, and blocks whose sums are. */
const BLOCK = 64;
const BLOCKS = 64;

export class DeleveragingShares {
  /** The result of `divide`, ascending account: rows, and what each is to give. */
  readonly rows: number[] = [];
  readonly lots: number[] = [];
  /** Rows that could not pay for their part, in the order in which they were met. */
  readonly passedOver = new Set<number>();
  /** By account, by block, and by `BLOCKS` of them. */
  private weights = float64(0);
  private sums = float64(0);
  private wideSums = float64(0);
  private blocks = 0;
  private total = 0;
  private count = 0;
  /** Whether all winners have given what they have: others follow. */
  private areOthers = false;
  /** The list of changed rows that it follows, and how many of them it has seen. */
  private changed: readonly number[] | null = null;
  private seen = 0;

  /** `side` closes the position: a buy takes from longs, a sell from shorts. */
  constructor(
    private readonly s: VenueTables,
    private readonly market: Market,
    private readonly side: Side,
  ) {}

  /** Before the lots of a position are divided. */
  begin(): void {
    const { positions } = this.market;
    if (positions.changed === null) positions.changed = [];
    if (this.changed === positions.changed && !this.areOthers) return;
    this.changed = positions.changed;
    this.sum(false);
  }

  /** After it: those that were passed over count again. */
  end(): void {
    const rows = [...this.passedOver];
    this.passedOver.clear();
    for (const row of rows) this.update(row);
  }

  passOver(row: number): void {
    this.passedOver.add(row);
    this.update(row);
  }

  /**
   * Divides the lots among at most that many accounts; false if nobody is left. No account's part
   * is larger than its position, so lots may be left over for another division.
   */
  divide(lots: number, most: number, account: number): boolean {
    this.catchUp();
    if (this.count === 0 && !this.areOthers) this.sum(true);
    if (this.count === 0) return false;
    this.rows.length = 0;
    this.lots.length = 0;
    if (this.count <= most) this.divideAmongAll(lots);
    else this.divideAmongSome(lots, most, account);
    return true;
  }

  /** Whole parts, and a lot more for the largest remainders. */
  private divideAmongAll(lots: number): void {
    const rests: { readonly at: number; readonly rest: bigint }[] = [];
    let left = lots;
    this.forEach((row, weight) => {
      const part = mulDivFloor(lots, weight, this.total);
      const rest = BigInt(lots) * BigInt(weight) - BigInt(part) * BigInt(this.total);
      rests.push({ at: this.rows.length, rest });
      this.give(row, part);
      left -= part;
    });
    rests.sort((a, b) => (a.rest === b.rest ? a.at - b.at : a.rest > b.rest ? -1 : 1));
    for (let i = 0; i < left; i++) this.lots[rests[i]!.at]! += 1;
    this.clip();
  }

  /**
   * As many equal parts as accounts may be met. The sum of all weights is cut into as many sections, with
   * a point in each that depends on account, log and section: an account gives a part for every point
   * that lies within its weight. So it gives in proportion to it, in the long run, and on average always.
   */
  private divideAmongSome(lots: number, parts: number, account: number): void {
    const size = divCeil(lots, parts);
    const seed = Math.imul(account, 2_654_435_761) + Math.imul(this.s.seq, 2_246_822_519);
    const pointAt = (k: number): number => {
      const offset = (seed + Math.imul(k, 2_654_435_761)) >>> 0;
      return mulDivFloor(this.total, k * 2 ** 32 + offset, parts * 2 ** 32);
    };
    let k = 0;
    let point = pointAt(0);
    let before = 0;
    let left = lots;
    const { sums, wideSums } = this;
    for (let block = 0; block < this.blocks && k < parts && left > 0; block++) {
      if (block % BLOCKS === 0 && point >= before + wideSums[block / BLOCKS]!) {
        before += wideSums[block / BLOCKS]!;
        block += BLOCKS - 1;
        continue;
      }
      if (point >= before + sums[block]!) {
        before += sums[block]!;
        continue;
      }
      this.forEachIn(block, (row, weight) => {
        before += weight;
        let given = 0;
        for (; k < parts && point < before; point = pointAt(++k)) given += size;
        given = Math.min(given, left);
        left -= given;
        if (given > 0) this.give(row, given);
      });
    }
    this.clip();
  }

  private give(row: number, lots: number): void {
    this.rows.push(row);
    this.lots.push(lots);
  }

  /** Bounds the parts by what is held, and drops those of no lots. */
  private clip(): void {
    const { rows, lots, market } = this;
    let kept = 0;
    for (let i = 0; i < rows.length; i++) {
      if (lots[i] === 0) continue;
      rows[kept] = rows[i]!;
      lots[kept] = Math.min(lots[i]!, Math.abs(market.positions.lots(rows[i]!)));
      kept++;
    }
    rows.length = kept;
    lots.length = kept;
  }

  private forEach(visit: (row: number, weight: number) => void): void {
    for (let block = 0; block < this.blocks; block++) {
      if (this.sums[block]! > 0) this.forEachIn(block, visit);
    }
  }

  /** The accounts of a block that have a weight, ascending. */
  private forEachIn(block: number, visit: (row: number, weight: number) => void): void {
    const { positions } = this.market;
    for (let account = block * BLOCK; account < (block + 1) * BLOCK; account++) {
      const weight = this.weights[account]!;
      if (weight > 0) visit(positions.rowOf(account), weight);
    }
  }

  private weigh(lots: number, cost: number): number {
    if (lots * this.side <= 0) return 0;
    const profit = mulExact(lots, this.market.markUnit) - cost;
    if (this.areOthers) return profit > 0 ? 0 : Math.abs(lots);
    return Math.max(0, profit);
  }

  /** Computes all sums in one pass over the dense copies of the positions. */
  private sum(areOthers: boolean): void {
    const { positions } = this.market;
    refreshWatches(this.s);
    this.areOthers = areOthers;
    this.seen = this.changed!.length;
    const accounts = this.s.accounts.rows;
    this.blocks = Math.ceil(accounts / BLOCK);
    if (this.blocks > this.sums.length) this.widen();
    this.total = 0;
    this.count = 0;
    const { weights, sums, wideSums, blocks, side } = this;
    const { held, costs } = positions;
    const { markUnit } = this.market;
    wideSums.fill(0);
    let count = 0;
    for (let block = 0; block < blocks; block++) {
      const last = Math.min(accounts, (block + 1) * BLOCK);
      let sum = 0;
      for (let account = block * BLOCK; account < last; account++) {
        const row = positions.rowOf(account);
        weights[account] = 0;
        if (row === NONE || held[row]! * side <= 0) continue;
        // In doubles: most of the other kind need no exact figure.
        if (held[row]! * markUnit > costs[row]! === areOthers) continue;
        const weight = this.weigh(held[row]!, costs[row]!);
        weights[account] = weight;
        sum += weight;
        if (weight > 0) count++;
      }
      sums[block] = sum;
      wideSums[Math.floor(block / BLOCKS)]! += sum;
      this.total = assertSafe(this.total + sum);
    }
    this.count = count;
    for (const row of this.passedOver) this.update(row);
  }

  private widen(): void {
    const wide = 2 * Math.ceil(this.blocks / BLOCKS);
    this.wideSums = float64(wide);
    this.sums = float64(wide * BLOCKS);
    this.weights = float64(wide * BLOCKS * BLOCK);
  }

  private catchUp(): void {
    const changed = this.changed!;
    for (; this.seen < changed.length; this.seen++) this.update(changed[this.seen]!);
  }

  /** Weighs a position again. */
  private update(row: number): void {
    const { positions } = this.market;
    const account = positions.account(row);
    const isLeftOut = this.passedOver.has(row);
    const weight = isLeftOut ? 0 : this.weigh(positions.lots(row), positions.cost(row));
    const before = this.weights[account]!;
    if (weight === before) return;
    this.weights[account] = weight;
    const block = Math.floor(account / BLOCK);
    this.sums[block]! += weight - before;
    this.wideSums[Math.floor(block / BLOCKS)]! += weight - before;
    this.total = assertSafe(this.total + weight - before);
    this.count += (weight > 0 ? 1 : 0) - (before > 0 ? 1 : 0);
  }
}
