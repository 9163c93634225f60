/**
 * Measures the page against a blank one in the same browser: frames drawn in turns, so that both meet the
 * same machine; processor time of the longest task, which does not depend on what else the machine does;
 * memory after garbage collection.
 */

import type { Browser, CDPSession, Page } from "playwright-core";

export interface Frames {
  readonly count: number;
  readonly ms: number;
}

/** Runs inside a page: counts frames, and the changes of the ladder if there is one. */
const COUNT = `(forMs) => new Promise((resolve) => {
  const ladder = document.querySelector(".ladder");
  let changes = 0;
  const observer = new MutationObserver(() => changes++);
  if (ladder !== null) {
    observer.observe(ladder, { subtree: true, childList: true, characterData: true });
  }
  let count = -1;
  let begin = 0;
  const frame = (now) => {
    if (count++ < 0) begin = now;
    if (now - begin < forMs) requestAnimationFrame(frame);
    else {
      observer.disconnect();
      resolve({ count, ms: now - begin, changes });
    }
  };
  requestAnimationFrame(frame);
})`;

export interface Round {
  readonly blank: Frames;
  readonly page: Frames & { readonly changes: number };
  /** Processor time of the longest task of any page. */
  readonly longestTaskMs: number;
}

export class FrameMeter {
  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
    private readonly blank: Page,
    private readonly devtools: CDPSession,
  ) {}

  static async start(browser: Browser, page: Page): Promise<FrameMeter> {
    const context = await browser.newContext();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable");
    return new FrameMeter(browser, page, await context.newPage(), devtools);
  }

  async round(blankMs: number, pageMs: number): Promise<Round> {
    const blank: Frames = await this.blank.evaluate(`(${COUNT})(${blankMs})`);
    await this.browser.startTracing(this.page, { categories: ["toplevel"] });
    const page: Round["page"] = await this.page.evaluate(`(${COUNT})(${pageMs})`);
    const trace = await this.browser.stopTracing();
    return { blank, page, longestTaskMs: longestTaskIn(trace.toString()) };
  }

  /** Megabytes of the page's heap that are in use. */
  async heapMb(): Promise<number> {
    await this.page.requestGC();
    const { metrics } = await this.devtools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1e6;
  }

  async stop(): Promise<void> {
    await this.blank.context().close();
  }
}

/** Frames of the page per frame of the blank page, over the same time. */
export function shareOf(rounds: readonly Round[]): number {
  const rateOf = (frames: readonly Frames[]) =>
    frames.reduce((sum, { count }) => sum + count, 0) / frames.reduce((sum, { ms }) => sum + ms, 0);
  return rateOf(rounds.map(({ page }) => page)) / rateOf(rounds.map(({ blank }) => blank));
}

interface TraceEvent {
  readonly name?: string;
  readonly pid?: number;
  readonly tid?: number;
  /** Processor time, microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

function longestTaskIn(text: string): number {
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(text);
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const pages = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf),
  );
  let longest = 0;
  for (const event of traceEvents) {
    if (event.name?.endsWith("RunTask") === true && pages.has(threadOf(event))) {
      longest = Math.max(longest, (event.tdur ?? 0) / 1_000);
    }
  }
  return longest;
}
