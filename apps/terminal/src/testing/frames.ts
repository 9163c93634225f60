/** Measures the page: time between animation frames, long tasks, updates of the ladder. */

import type { Page } from "playwright-core";

export interface FrameFigures {
  readonly count: number;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly longestTaskMs: number;
  /** Frames in which at least one row of the ladder was written. */
  readonly bookChanges: number;
}

const AT_MOST_MS = 60_000;

/** Runs inside the page. */
const MEASURE = `async (forMs, untilChanges, untilFrames, atMostMs) => {
  const gaps = [];
  let longestTaskMs = 0;
  let bookChanges = 0;
  const tasks = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, duration);
  });
  tasks.observe({ entryTypes: ["longtask"] });
  const ladder = new MutationObserver(() => bookChanges++);
  ladder.observe(document.querySelector(".ladder"), {
    subtree: true, childList: true, characterData: true,
  });
  await new Promise((resolve) => {
    const begin = performance.now();
    let last = begin;
    const frame = (now) => {
      gaps.push(now - last);
      last = now;
      const passed = now - begin;
      const isDone = passed >= forMs && bookChanges >= untilChanges && gaps.length > untilFrames;
      if (isDone || passed >= atMostMs) resolve();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  tasks.disconnect();
  ladder.disconnect();
  return { gaps: gaps.slice(1), longestTaskMs, bookChanges };
}`;

/** Measures for `forMs`, and longer until both minimum counts are reached: a busy machine is slow. */
export async function measureFrames(
  page: Page,
  forMs: number,
  untilChanges: number,
  untilFrames: number,
): Promise<FrameFigures> {
  const measured: { gaps: number[]; longestTaskMs: number; bookChanges: number } =
    await page.evaluate(`(${MEASURE})(${forMs}, ${untilChanges}, ${untilFrames}, ${AT_MOST_MS})`);
  const sorted = measured.gaps.toSorted((a, b) => a - b);
  const total = sorted.reduce((sum, gap) => sum + gap, 0);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return {
    count: sorted.length,
    perSecond: total === 0 ? 0 : (sorted.length * 1_000) / total,
    medianMs: at(0.5),
    p95Ms: at(0.95),
    longestTaskMs: measured.longestTaskMs,
    bookChanges: measured.bookChanges,
  };
}
