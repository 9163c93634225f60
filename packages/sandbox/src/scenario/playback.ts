/** A scenario on its way: does what is due as the venue's time passes. */

import type { Stage } from "./actions.js";
import type { Scenario } from "./scenario.js";
import { ScenarioError } from "./words.js";

export class Playback {
  /** Resolves at the end of the scenario; rejects if a line of it is refused. */
  readonly over: Promise<void>;
  private onOver: () => void = () => undefined;
  private onFailed: (error: unknown) => void = () => undefined;
  isOver = false;
  private problem: string | null = null;

  constructor(
    readonly scenario: Scenario,
    private readonly startMs: number,
    private next = 0,
  ) {
    this.over = new Promise((resolve, reject) => {
      this.onOver = resolve;
      this.onFailed = reject;
    });
    // `play` may have been called by one that does not wait.
    this.over.catch(() => undefined);
  }

  static from({ scenario, startMs, next }: PlaybackState): Playback {
    return new Playback(scenario, startMs, next);
  }

  /** What a saved moment has of it; undefined once it is over. */
  state(): PlaybackState | undefined {
    const { scenario, startMs, next } = this;
    return this.isOver ? undefined : { scenario, startMs, next };
  }

  progress(nowMs: number): ScenarioProgress {
    const { isOver, problem, startMs } = this;
    const { name, endMs } = this.scenario;
    return { name, isOver, leftMs: isOver ? 0 : startMs + endMs - nowMs, problem };
  }

  async follow(stage: Stage): Promise<void> {
    if (this.isOver) return;
    const { steps, endMs } = this.scenario;
    const sinceMs = stage.nowMs - this.startMs;
    for (let step = steps[this.next]; step !== undefined; step = steps[this.next]) {
      if (step.atMs > sinceMs) return;
      this.next++;
      try {
        await step.act(stage);
      } catch (error) {
        const isRefused = error instanceof RangeError;
        this.fail(isRefused ? new ScenarioError(`${step.place}: ${error.message}`) : error);
        return;
      }
    }
    if (sinceMs < endMs) return;
    this.isOver = true;
    this.onOver();
  }

  /** Ends it before its end. */
  fail(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.problem = error instanceof Error ? error.message : String(error);
    this.onFailed(error);
  }
}

export interface ScenarioProgress {
  readonly name: string;
  readonly isOver: boolean;
  /** Of the venue's time. */
  readonly leftMs: number;
  /** Why it ended before its end. */
  readonly problem: string | null;
}

export interface PlaybackState {
  readonly scenario: Scenario;
  readonly startMs: number;
  readonly next: number;
}
