/** Credited deposits of a chain in the order of their credits, read in pages from a time on. */

export class CreditedLog {
  private readonly ids: number[] = [];
  /** Non-decreasing. */
  private readonly timesMs: number[] = [];

  add(id: number, creditedAtMs: number): void {
    this.ids.push(id);
    this.timesMs.push(creditedAtMs);
  }

  /** `after` is `next` of the page before, 0 for the first. */
  page(
    sinceMs: number,
    after: number,
    limit: number,
  ): { readonly ids: readonly number[]; readonly next: number | null } {
    const from = Math.max(after, this.firstSince(sinceMs));
    const ids = this.ids.slice(from, from + limit);
    const end = from + ids.length;
    return { ids, next: end < this.ids.length ? end : null };
  }

  private firstSince(timeMs: number): number {
    let low = 0;
    let high = this.timesMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timesMs[middle]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
