/**
 * Ordered sets of rows as binary trees whose shape is random: a row is above all rows with a lower
 * weight. Adding, removing, cutting a set in two at a key and joining two sets cost a walk from the
 * root to a leaf, however many rows there are. The links live in an array of the rows' owner; a set is
 * known by the row at its root, an empty one by NONE. Which rows are in which set, and their order, is
 * all that can be seen from outside: the shape is not part of any state.
 */
import { NONE, spread } from "./id-index.js";
import type { HashSeed } from "./seeded-hash.js";

/** Words of a row in the links, from `at` on. */
export const TREAP_WORDS = 3;
const LEFT = 0;
const RIGHT = 1;
const PARENT = 2;

export abstract class Treap {
  /** The two parts that the last `cut` has left. */
  head = NONE;
  tail = NONE;
  private readonly seeds: readonly [number, number];

  constructor(
    private readonly stride: number,
    seed: HashSeed,
  ) {
    this.seeds = [seed[0] | 0, seed[1] | 1];
  }

  protected abstract get treeLinks(): Int32Array;
  /** What the weight of a row is drawn from: its id, which no two rows share. */
  protected abstract idOf(row: number): number;
  /** Whether a row comes before another one in every set that has both. */
  protected abstract isBefore(row: number, other: number): boolean;

  /** Adds a row to a set by its key; returns the new root. */
  insert(root: number, row: number): number {
    return this.insertBy(root, row, (other) => this.isBefore(other, row));
  }

  /** Adds a row to a set behind those for which the test is true, which come first. */
  insertBy(root: number, row: number, isBefore: (other: number) => boolean): number {
    let parent = NONE;
    let isRight = false;
    let below = root;
    while (below !== NONE && this.isAbove(below, row)) {
      parent = below;
      isRight = isBefore(below);
      below = isRight ? this.right(below) : this.left(below);
    }
    this.cut(below, isBefore);
    this.setLeft(row, this.head);
    this.setRight(row, this.tail);
    if (parent === NONE) this.setParent(row, NONE);
    else if (isRight) this.setRight(parent, row);
    else this.setLeft(parent, row);
    return parent === NONE ? row : root;
  }

  /** Adds a row right behind another one of the set, or before all for NONE; returns the new root. */
  insertAfter(root: number, other: number, row: number): number {
    this.single(row);
    const right = other === NONE ? root : this.right(other);
    if (right === NONE) this.setRight(other, row);
    else {
      const first = this.first(right);
      this.setLeft(first, row);
    }
    return this.lift(root === NONE ? row : root, row);
  }

  /** Removes a row from its set; returns the new root. */
  remove(root: number, row: number): number {
    const parent = this.parent(row);
    const rest = this.join(this.left(row), this.right(row));
    if (parent === NONE) {
      if (rest !== NONE) this.setParent(rest, NONE);
      return rest;
    }
    if (this.left(parent) === row) this.setLeft(parent, rest);
    else this.setRight(parent, rest);
    return root;
  }

  /** Cuts a set in two: `head` has the rows for which the test is true, which come first. */
  cut(root: number, isHead: (row: number) => boolean): void {
    if (root === NONE) {
      this.head = NONE;
      this.tail = NONE;
      return;
    }
    if (isHead(root)) {
      this.cut(this.right(root), isHead);
      this.setRight(root, this.head);
      this.head = root;
    } else {
      this.cut(this.left(root), isHead);
      this.setLeft(root, this.tail);
      this.tail = root;
    }
    if (this.head !== NONE) this.setParent(this.head, NONE);
    if (this.tail !== NONE) this.setParent(this.tail, NONE);
  }

  /** Joins two sets of which all rows of the first come before those of the second. */
  join(first: number, second: number): number {
    if (first === NONE) return second;
    if (second === NONE) return first;
    if (this.isAbove(first, second)) {
      this.setRight(first, this.join(this.right(first), second));
      return first;
    }
    this.setLeft(second, this.join(first, this.left(second)));
    return second;
  }

  /** The first row of a set, or NONE. */
  first(root: number): number {
    let row = root;
    while (row !== NONE && this.left(row) !== NONE) row = this.left(row);
    return row;
  }

  /** The first row for which the test is false, or NONE; it is true for those that come first. */
  firstBehind(root: number, isBefore: (row: number) => boolean): number {
    let found = NONE;
    for (let row = root; row !== NONE; ) {
      const isHead = isBefore(row);
      if (!isHead) found = row;
      row = isHead ? this.right(row) : this.left(row);
    }
    return found;
  }

  /** The row behind another one of its set, or NONE. */
  after(row: number): number {
    return this.neighbour(row, RIGHT, LEFT);
  }

  /** The row before another one of its set, or NONE. */
  before(row: number): number {
    return this.neighbour(row, LEFT, RIGHT);
  }

  /** The root of the set that a row is in. */
  rootOf(row: number): number {
    let root = row;
    while (this.parent(root) !== NONE) root = this.parent(root);
    return root;
  }

  private neighbour(row: number, towards: number, back: number): number {
    let at = this.link(row, towards);
    if (at !== NONE) {
      while (this.link(at, back) !== NONE) at = this.link(at, back);
      return at;
    }
    let from = row;
    at = this.parent(from);
    while (at !== NONE && this.link(at, towards) === from) {
      from = at;
      at = this.parent(at);
    }
    return at;
  }

  /** Moves a new leaf up to where its weight puts it; returns the root. */
  private lift(root: number, row: number): number {
    for (;;) {
      const parent = this.parent(row);
      if (parent === NONE) return row;
      if (!this.isAbove(row, parent)) return root;
      const above = this.parent(parent);
      if (this.left(parent) === row) {
        this.setLeft(parent, this.right(row));
        this.setRight(row, parent);
      } else {
        this.setRight(parent, this.left(row));
        this.setLeft(row, parent);
      }
      if (above === NONE) this.setParent(row, NONE);
      else if (this.left(above) === parent) this.setLeft(above, row);
      else this.setRight(above, row);
    }
  }

  private isAbove(row: number, other: number): boolean {
    const weight = this.weight(row);
    const than = this.weight(other);
    return weight > than || (weight === than && this.idOf(row) > this.idOf(other));
  }

  /** Of which traders know nothing without the seed. Four times an id is a whole number. */
  private weight(row: number): number {
    return spread(4 * this.idOf(row), this.seeds[0], this.seeds[1]);
  }

  private single(row: number): void {
    const { treeLinks, stride } = this;
    const at = row * stride;
    treeLinks[at + LEFT] = NONE;
    treeLinks[at + RIGHT] = NONE;
    treeLinks[at + PARENT] = NONE;
  }

  private link(row: number, word: number): number {
    return this.treeLinks[row * this.stride + word]!;
  }
  private left(row: number): number {
    return this.link(row, LEFT);
  }
  private right(row: number): number {
    return this.link(row, RIGHT);
  }
  private parent(row: number): number {
    return this.link(row, PARENT);
  }
  private setParent(row: number, parent: number): void {
    this.treeLinks[row * this.stride + PARENT] = parent;
  }
  private setLeft(row: number, child: number): void {
    this.treeLinks[row * this.stride + LEFT] = child;
    if (child !== NONE) this.setParent(child, row);
  }
  private setRight(row: number, child: number): void {
    this.treeLinks[row * this.stride + RIGHT] = child;
    if (child !== NONE) this.setParent(child, row);
  }
}
