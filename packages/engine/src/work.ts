/**
 * The work units of the command in progress (docs/engine.md, "Work"): what bounds it, and what its
 * account is charged for. Every charge counts, whatever caused it; the limits only decide whether a
 * further turn begins. A turn (one maker, one order that is canceled) is never cut short, so a command
 * does at most its limit and one turn.
 *
 *   if (work.left === 0) stop;          // before each turn
 *   work.charge(UNITS_PER_MAKER);       // the turn itself; what follows from it is charged where it happens
 *
 * A tick has a limit in each market, too. Its phases call `enter` before they serve a market; `left` is
 * then what both limits leave, and a market whose share is used up is passed over, not the tick ended:
 *
 *   for (const market of s.markets) { work.enter(market.number); while (work.left > 0 && …) … }
 *   if (work.isSpent) …                 // no market has anything left
 *
 * A phase of a tick leaves units of each market to later ones: `allot` says how many are used up by the end
 * of it. An account's turn is given less by `narrow`, which returns what `widen` needs:
 *
 *   const outer = work.narrow(units); …; work.widen(outer);
 */

/** A maker that is met, whatever becomes of it. */
export const UNITS_PER_MAKER = 4;

export class Work {
  /** Units of the command so far. */
  spent = 0;
  /** `spent` at which the command, and at which the part in progress, has used up its units. */
  private limit = 0;
  private ceiling = 0;
  /** Of a tick: units of each market, the one entered since `enteredAt` apart. */
  private perMarket = 0;
  private readonly used: number[] = [];
  private market = -1;
  private enteredAt = 0;
  /** Units for orders that are over and in the way: what is left of them, and what was taken. */
  private asideLeft = 0;
  asideSpent = 0;

  /**
   * At the beginning of a command, and of a further operation of a batch with what is left for it. `aside`:
   * see `setAside`.
   */
  begin(units: number, perMarket = units, aside = 0): void {
    this.spent = 0;
    this.asideLeft = aside;
    this.asideSpent = 0;
    this.limit = units;
    this.ceiling = units;
    this.perMarket = perMarket;
    if (this.market < 0) return;
    this.used.length = 0;
    this.market = -1;
  }

  get left(): number {
    return Math.max(0, this.ceiling - this.spent);
  }

  /** Whether the command has no units left, in any market. */
  get isSpent(): boolean {
    return this.spent >= this.limit;
  }

  /** What the command has left, all markets together. */
  get leftInAll(): number {
    return Math.max(0, this.limit - this.spent);
  }

  /** Until the next call each market has this many units of the tick, those used so far included. */
  allot(perMarket: number): void {
    this.perMarket = perMarket;
  }

  charge(units: number): void {
    this.spent += units;
  }

  /** Lets what was spent since `before` count for nobody, as far as the units for that go. */
  setAside(before: number): void {
    const units = Math.min(this.spent - before, this.asideLeft);
    this.spent -= units;
    this.asideLeft -= units;
    this.asideSpent += units;
  }

  /** From here on everything counts. */
  endAside(): void {
    this.asideLeft = 0;
  }

  /** From here on a tick works for this market; ends what `narrow` began. */
  enter(market: number): void {
    const { used, spent, limit } = this;
    if (this.market >= 0) used[this.market] = this.spentIn(this.market);
    this.market = market;
    this.enteredAt = spent;
    this.ceiling = Math.min(limit, spent + this.perMarket - this.spentIn(market));
  }

  /** Units of a tick that count for the market. */
  spentIn(market: number): number {
    const sinceEntered = market === this.market ? this.spent - this.enteredAt : 0;
    return (this.used[market] ?? 0) + sinceEntered;
  }

  /** Leaves at most `units` until `widen`. */
  narrow(units: number): number {
    const outer = this.ceiling;
    this.ceiling = Math.min(outer, this.spent + units);
    return outer;
  }

  widen(outer: number): void {
    this.ceiling = outer;
  }
}
