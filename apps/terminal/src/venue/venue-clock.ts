/**
 * The venue's time, which `validUntil` of an order is compared with: the newest sample, moved on by a
 * clock that the user cannot set. Undefined until there is a sample.
 */

export class PageClock {
  private sample: { readonly time: number; readonly at: number } | undefined;
  private speed = 1;

  /** `speed` is given by a sandbox, whose time may stand or go faster. */
  note(time: number, speed = this.speed): void {
    this.sample = { time, at: performance.now() };
    this.speed = speed;
  }

  /** The machine may have slept: samples from before say nothing. */
  forget(): void {
    this.sample = undefined;
  }

  /** The newest sample, which the log has reached; between samples it may stand still. */
  get reached(): number | undefined {
    return this.sample?.time;
  }

  now(): number | undefined {
    if (this.sample === undefined) return undefined;
    return Math.round(this.sample.time + (performance.now() - this.sample.at) * this.speed);
  }
}
