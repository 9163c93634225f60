/**
 * The pending stops of one market under version 3, in lines (docs/engine.md, "Lines of stops"). A line
 * has two kinds of sets: by side and trigger, the stops that no tick has reached, by price; and one of
 * those that were reached and wait, in the order of service. The mark reaches stops by cutting the first
 * part of a set off and joining it to those that wait, so a million of them cost no more than one.
 * Those that close the position and were triggered are in no line, but in a set for each side, by id.
 *
 * Derived from the rows of orders and from `VenueState.reaches`. The links are those that resting orders
 * have in the queue of their price.
 */
import { LONG, SHORT, type Side, STOP_TRIGGER, type TriggerCode } from "../commands.js";
import { NONE } from "./id-index.js";
import { int32 } from "./memory.js";
import { LINKS, type OrderStore } from "./orders.js";
import type { Reach } from "./reaches.js";
import type { HashSeed } from "./seeded-hash.js";
import { Treap } from "./treap.js";

/** Size classes of stops that close; turns of an account, by the number of its other stops. */
const SIZE_CLASSES = 7;
const TURNS = 5;
/**
 * The lines in order of service: those that close, others, those that no longer close; then the same again
 * for stops that have reached the limit of a turn.
 */
export const CLOSING_LINES = TURNS * SIZE_CLASSES;
export const STALE_LINE = CLOSING_LINES + TURNS;
export const LATER_LINES = STALE_LINE + 1;
export const STOP_LINES = 2 * LATER_LINES;
/** Of an exit that no mark reaches yet. */
export const NO_LINE = -1;

const SMALLEST_MICROS = 10_000_000;

/** By tens of dollars: 0 below 10, 6 from a million on. */
export function sizeClass(micros: number): number {
  let bound = SMALLEST_MICROS;
  for (let size = 0; size < SIZE_CLASSES - 1; size++) {
    if (micros < bound) return size;
    bound *= 10;
  }
  return SIZE_CLASSES - 1;
}

/** By the number of the account's other stops in the market: 0, 1, 2 to 7, 8 to 31, and more. */
export function turnOf(others: number): number {
  if (others < 2) return others;
  if (others < 8) return 2;
  return others < 32 ? 3 : 4;
}

export function closingLine(turn: number, size: number): number {
  return turn * SIZE_CLASSES + SIZE_CLASSES - 1 - size;
}

export function otherLine(turn: number): number {
  return CLOSING_LINES + turn;
}

/** The line of a stop's first turn, whichever turn it waits for. */
export function firstLine(line: number): number {
  return line % LATER_LINES;
}

/** Of a line that is not the one of those that no longer close. */
export function turnOfLine(line: number): number {
  const first = firstLine(line);
  return first < CLOSING_LINES ? Math.floor(first / SIZE_CLASSES) : first - CLOSING_LINES;
}

/** Of a line of stops that close. */
export function sizeOfLine(line: number): number {
  return SIZE_CLASSES - 1 - (firstLine(line) % SIZE_CLASSES);
}

/** The number of a side and trigger among the four of a market. */
export function stopSet(side: Side, trigger: number): number {
  return 2 * trigger + (side === LONG ? 0 : 1);
}

const SETS = 4;

export class StopLines extends Treap {
  private readonly pending = int32(LATER_LINES * SETS).fill(NONE);
  private readonly waiting = int32(STOP_LINES).fill(NONE);
  private readonly triggered = int32(2).fill(NONE);
  /** Orders that close the position and were not triggered, by position row × 4 + set. */
  private readonly closing = new Map<number, number>();
  /** The first stop of each run of a line that one tick has reached, and that tick. */
  private readonly runs = new Map<number, Reach>();
  /** Ticks that have lost the last of their stops, unless one was put back. */
  readonly served: Reach[] = [];
  /** Of the set that is being changed: 1 where a rising mark reaches its stops, else −1. */
  private sign = 1;

  constructor(
    private readonly orders: OrderStore,
    seed: HashSeed,
  ) {
    super(LINKS, seed);
  }

  /** Adds a stop that no tick has reached to its line. */
  add(order: number, set: number): void {
    this.sign = signOf(set);
    const at = this.orders.line(order) * SETS + set;
    this.pending[at] = this.insert(this.pending[at]!, order);
  }

  /** Adds one to a line of stops that ticks move there, which is by that tick, then by id. */
  addMoved(order: number): void {
    const { orders } = this;
    const line = orders.line(order);
    const tick = orders.movedAt(order);
    this.waiting[line] = this.insertBy(this.waiting[line]!, order, (other) => {
      const difference = orders.movedAt(other) - tick;
      return difference !== 0 ? difference < 0 : orders.id(other) < orders.id(order);
    });
  }

  /**
   * Puts one back that waited, right behind another one or (NONE) before all. `run`: what `runOf` said
   * before it was taken.
   */
  putBack(order: number, behind: number, run: Reach | undefined): void {
    const line = this.orders.line(order);
    this.waiting[line] = this.insertAfter(this.waiting[line]!, behind, order);
    if (run === undefined) return;
    // Without it the run began with the next one, if there was any.
    const next = this.after(order);
    if (next !== NONE && this.runs.get(next) === run) this.runs.delete(next);
    else run.lines++;
    this.runs.set(order, run);
  }

  /** The tick whose stops begin with this one in its line, if one's do. */
  runOf(order: number): Reach | undefined {
    return this.runs.get(order);
  }

  take(order: number, set: number): void {
    const line = this.orders.line(order);
    this.leaveRun(order);
    // Only a root says which set it is in; the others need not know.
    if (this.waiting[line] === order) this.waiting[line] = this.remove(order, order);
    else {
      const at = line * SETS + set;
      this.pending[at] = this.remove(this.pending[at]!, order);
    }
  }

  /** Lets the run of a line that begins with this stop begin with the next one, or end. */
  private leaveRun(order: number): void {
    const run = this.runs.get(order);
    if (run === undefined) return;
    this.runs.delete(order);
    const next = this.after(order);
    if (next !== NONE && !this.runs.has(next)) this.runs.set(next, run);
    else if (--run.lines === 0) this.served.push(run);
  }

  /** Whether a tick has reached it. */
  waits(order: number): boolean {
    return this.rootOf(order) === this.waiting[this.orders.line(order)];
  }

  /** The next one of a line, or NONE. */
  next(line: number): number {
    return this.first(this.waiting[line]!);
  }

  /** Lets the stops wait that a tick reaches; returns whether there are any. */
  reach(reach: Reach): boolean {
    const { set, markTicks } = reach;
    const sign = signOf(set);
    const limit = sign * markTicks;
    const isReached = (order: number): boolean => sign * this.orders.price(order) <= limit;
    for (let line = 0; line < LATER_LINES; line++) {
      const root = this.pending[line * SETS + set]!;
      const first = this.first(root);
      if (first === NONE || !isReached(first)) continue;
      this.cut(root, isReached);
      this.pending[line * SETS + set] = this.tail;
      this.waiting[line] = this.join(this.waiting[line]!, this.head);
      this.runs.set(first, reach);
      reach.lines++;
    }
    return reach.lines > 0;
  }

  /** Adds one that closes the position and was triggered. */
  addTriggered(order: number): void {
    const { orders } = this;
    const side = sideIndex(orders.side(order));
    const isBefore = (other: number): boolean => orders.id(other) < orders.id(order);
    this.triggered[side] = this.insertBy(this.triggered[side]!, order, isBefore);
  }

  takeTriggered(order: number): void {
    const side = sideIndex(this.orders.side(order));
    this.triggered[side] = this.remove(this.triggered[side]!, order);
  }

  get isAnyTriggered(): boolean {
    return this.triggered.some((root) => root !== NONE);
  }

  /** The triggered stop of a side with the lowest id above that one, else with the lowest of all, or NONE. */
  triggeredAfter(side: Side, id: number): number {
    const root = this.triggered[sideIndex(side)]!;
    const next = this.firstBehind(root, (order) => this.orders.id(order) <= id);
    return next === NONE ? this.first(root) : next;
  }

  /** The one behind another triggered stop of its side, all around. */
  nextTriggered(side: Side, order: number): number {
    const next = this.after(order);
    return next === NONE ? this.first(this.triggered[sideIndex(side)]!) : next;
  }

  /** Visits the triggered ones, of each side by id. */
  forEachTriggered(visit: (order: number, side: Side) => void): void {
    for (const side of [LONG, SHORT] as const) {
      const root = this.triggered[sideIndex(side)]!;
      for (let at = this.first(root); at !== NONE; at = this.after(at)) visit(at, side);
    }
  }

  /** Notes or forgets the order of a position that closes it. */
  setClosing(row: number, set: number, order: number): void {
    if (order === NONE) this.closing.delete(row * SETS + set);
    else this.closing.set(row * SETS + set, order);
  }

  closingOrder(row: number, set: number): number {
    return this.closing.get(row * SETS + set) ?? NONE;
  }

  clear(): void {
    this.pending.fill(NONE);
    this.waiting.fill(NONE);
    this.triggered.fill(NONE);
    this.closing.clear();
    this.runs.clear();
    this.served.length = 0;
  }

  /** All stops, for audits: by line, the sets of those not reached, then those that wait. */
  forEach(visit: (order: number, line: number, set: number, waits: boolean) => void): void {
    for (let line = 0; line < STOP_LINES; line++) {
      for (let set = 0; set < SETS && line < LATER_LINES; set++) {
        let order = this.first(this.pending[line * SETS + set]!);
        for (; order !== NONE; order = this.after(order)) visit(order, line, set, false);
      }
      let order = this.next(line);
      for (; order !== NONE; order = this.after(order)) visit(order, line, -1, true);
    }
  }

  protected override get treeLinks(): Int32Array {
    return this.orders.links;
  }
  protected override idOf(order: number): number {
    return this.orders.id(order);
  }
  protected override isBefore(order: number, other: number): boolean {
    const { orders } = this;
    const difference = this.sign * (orders.price(order) - orders.price(other));
    return difference !== 0 ? difference < 0 : orders.rank(order) < orders.rank(other);
  }
}

function sideIndex(side: Side): number {
  return side === LONG ? 0 : 1;
}

function signOf(set: number): number {
  const trigger = (set >> 1) as TriggerCode;
  return (set % 2 === 0) === (trigger === STOP_TRIGGER) ? 1 : -1;
}
