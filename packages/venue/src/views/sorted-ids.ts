/**
 * A sorted set of numbers in blocks: the cost of adding, removing and reading a page does not grow with
 * the set. New numbers are mostly the highest, which only extend the last block.
 */

const MAX_BLOCK = 1_024;

export class SortedIds {
  private readonly blocks: number[][] = [];
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(id: number): void {
    const block = this.blocks[this.blockOf(id)];
    if (block === undefined) {
      this.append(id);
      return;
    }
    const at = indexIn(block, id);
    if (block[at] === id) return;
    block.splice(at, 0, id);
    this.count++;
    if (block.length > MAX_BLOCK) this.split(block);
  }

  delete(id: number): void {
    const number = this.blockOf(id);
    const block = this.blocks[number];
    if (block === undefined) return;
    const at = indexIn(block, id);
    if (block[at] !== id) return;
    block.splice(at, 1);
    this.count--;
    if (block.length === 0) this.blocks.splice(number, 1);
  }

  /** The next `limit` above `after`, ascending. */
  above(after: number, limit: number): number[] {
    const found: number[] = [];
    for (let number = this.blockOf(after + 1); found.length < limit; number++) {
      const block = this.blocks[number];
      if (block === undefined) break;
      const from = found.length === 0 ? indexIn(block, after + 1) : 0;
      found.push(...block.slice(from, from + limit - found.length));
    }
    return found;
  }

  /** The next `limit` below `before`, descending. */
  below(before: number, limit: number): number[] {
    const found: number[] = [];
    let number = Math.min(this.blockOf(before), this.blocks.length - 1);
    for (; found.length < limit && number >= 0; number--) {
      const block = this.blocks[number]!;
      const end = indexIn(block, before);
      found.push(...block.slice(Math.max(0, end - (limit - found.length)), end).reverse());
    }
    return found;
  }

  /** Above every number: the first `before`. */
  static readonly END = Number.MAX_SAFE_INTEGER;

  private append(id: number): void {
    const last = this.blocks.at(-1);
    if (last === undefined || last.length >= MAX_BLOCK) this.blocks.push([id]);
    else last.push(id);
    this.count++;
  }

  /** Index of the first block whose last number is at least `id`; the number of blocks if none. */
  private blockOf(id: number): number {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.blocks[middle]!.at(-1)! < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private split(block: number[]): void {
    const upper = block.splice(block.length >> 1);
    this.blocks.splice(this.blocks.indexOf(block) + 1, 0, upper);
  }
}

/** Index of the number in an ascending block, or where it would be inserted. */
function indexIn(block: readonly number[], id: number): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (block[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
