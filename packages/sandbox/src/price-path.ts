/** The index price of one market: constant, or on its way to another price. */

export class PricePath {
  private from: number;
  private to: number;
  private startMs = 0;
  private endMs = 0;

  constructor(price: number) {
    this.from = price;
    this.to = price;
  }

  at(nowMs: number): number {
    if (nowMs >= this.endMs) return this.to;
    const part = (nowMs - this.startMs) / (this.endMs - this.startMs);
    // Equal parts of time are equal ratios: a crash by 15 % is as fast at its end as at its start.
    return this.from * (this.to / this.from) ** Math.max(0, part);
  }

  isMovingAt(nowMs: number): boolean {
    return nowMs < this.endMs;
  }

  moveTo(price: number, nowMs: number, withinMs: number): void {
    if (!(price > 0 && Number.isFinite(price))) {
      throw new RangeError(`a price is a number above 0, not ${price}`);
    }
    this.from = this.at(nowMs);
    this.to = price;
    this.startMs = nowMs;
    this.endMs = nowMs + withinMs;
  }

  copy(): PricePath {
    const copy = new PricePath(this.to);
    copy.from = this.from;
    copy.startMs = this.startMs;
    copy.endMs = this.endMs;
    return copy;
  }
}
