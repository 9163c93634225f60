/**
 * Measures the page against a blank one in the same browser: frames drawn in turns, so that both meet the
 * same machine; processor time of the longest task; memory after garbage collection.
 *
 * Processor time does not depend on what else the machine runs, but some machines compute ten times more
 * slowly for a tenth of a second. The blank page therefore repeats a piece of work of fixed size while
 * the page is measured, and a task counts less by as much as those pieces took longer than usual.
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

const PIECE = "perpgate-piece";

/** Runs inside the blank page: a few milliseconds of work every 50 ms, each marked in the trace. */
const REPEAT_PIECES = `(() => {
  globalThis.pieces = setInterval(() => {
    performance.mark("${PIECE}");
    let sum = 0;
    for (let i = 0; i < 4e5; i++) sum = (sum * 31 + i) | 0;
    globalThis.pieceSum = sum;
  }, 50);
})()`;

export interface Round {
  readonly blank: Frames;
  readonly page: Frames & { readonly changes: number };
  /** The longest task of the page, on a machine of steady pace. */
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
    await this.blank.evaluate(REPEAT_PIECES);
    await this.browser.startTracing(this.page, { categories: ["toplevel", "blink.user_timing"] });
    const page: Round["page"] = await this.page.evaluate(`(${COUNT})(${pageMs})`);
    const trace = await this.browser.stopTracing();
    await this.blank.evaluate("clearInterval(pieces)");
    return { blank, page, longestTaskMs: longestTaskIn(JSON.parse(trace.toString()).traceEvents) };
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
  /** Begin and length, microseconds. */
  readonly ts?: number;
  readonly dur?: number;
  /** Processor time, microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

interface Task {
  readonly begin: number;
  readonly end: number;
  readonly processorMs: number;
}

/** Pieces that began this long before or after a task tell of the machine's pace during it. */
const NEAR_US = 60_000;

export function longestTaskIn(traceEvents: readonly TraceEvent[]): number {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const marks = traceEvents.filter(({ name }) => name === PIECE);
  const blank = new Set(marks.map(threadOf));
  const pages = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf)
      .filter((thread) => !blank.has(thread)),
  );
  const tasksOf = (threads: ReadonlySet<string>): Task[] =>
    traceEvents
      .filter((event) => event.name?.endsWith("RunTask") === true && threads.has(threadOf(event)))
      .map(({ ts = 0, dur = 0, tdur = 0 }) => ({
        begin: ts,
        end: ts + dur,
        processorMs: tdur / 1_000,
      }));
  const pieces = tasksOf(blank).filter(({ begin, end }) =>
    marks.some(({ ts = 0 }) => begin <= ts && ts <= end),
  );
  const usualMs = medianOf(pieces.map(({ processorMs }) => processorMs));
  const steadyMs = tasksOf(pages).map(({ begin, end, processorMs }) => {
    const near = pieces.filter(
      (piece) => piece.end >= begin - NEAR_US && piece.begin <= end + NEAR_US,
    );
    const paces = near.map((piece) => Math.min(1, usualMs / piece.processorMs));
    const pace = paces.reduce((sum, each) => sum + each, 0) / paces.length;
    return paces.length === 0 ? processorMs : processorMs * pace;
  });
  return Math.max(0, ...steadyMs);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
