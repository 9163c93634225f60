/**
 * Whether something grew. Each quantity has a slope and a bound: a base that no healthy venue reaches,
 * plus the noise of a run of this length.
 */
import type { BenchGateway } from "../harness/gateway.js";
import { median } from "../harness/report.js";
import type { Found, LoadWindow } from "./load.js";

export interface SoakSample {
  /** Since the soak began. */
  readonly atMs: number;
  /** Which process of the venue, from 0, and for how long it has run. */
  readonly life: number;
  readonly ageMs: number;
  readonly venue: BenchGateway["figures"] & {
    readonly heapBytes: number;
    readonly folderBytes: number;
  };
  readonly load: LoadWindow;
  /** Attacked within this window or the one before. */
  readonly isAttacked: boolean;
}

/** The end of one process and the start of the next. */
export interface Restart extends Found {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly code: number | null;
  readonly readyMs: number;
}

export interface SoakFinding {
  readonly what: string;
  readonly level: string;
  readonly slope: string;
  readonly bound: string;
  readonly isGrowing: boolean;
  /** False if no process ran long enough. */
  readonly isJudged: boolean;
}

const HOUR_MS = 3_600_000;
const MB = 1e6;
const SEGMENT_BYTES = 64 * 2 ** 20;
/** A process first fills its caches and rings: this share of its life, a minute to six, is left out. */
const WARM_UP_SHARE = 0.4;
const WARM_UP_MS = 60_000;
const MAX_WARM_UP_MS = 360_000;
/** Under load there is a full garbage collection about twice a minute; a shorter window may have none. */
const WINDOW_MS = 60_000;
/** What collections freed goes back to the system every seven minutes or so. */
const MEMORY_WINDOW_MS = 360_000;
/** Windows of a life that make a slope. */
const LEAST_WINDOWS = 4;

interface Judged {
  readonly what: string;
  readonly unit: string;
  readonly scale: number;
  readonly of: (sample: SoakSample) => number;
  readonly basePerHour: number;
  /** The error of one life's slope over its whole span. */
  readonly noise: number;
  /** The lowest value of each such time counts. */
  readonly windowMs: number;
}

const MEMORY = { unit: "MB", scale: MB };
const WITHIN_A_LIFE: readonly Judged[] = [
  {
    ...{ what: "memory without mapped files", ...MEMORY, basePerHour: 48 * MB, noise: 24 * MB },
    windowMs: MEMORY_WINDOW_MS,
    of: ({ venue }) => venue.anonymousBytes,
  },
  {
    ...{ what: "heap in use", ...MEMORY, basePerHour: 24 * MB, noise: 8 * MB },
    windowMs: WINDOW_MS,
    of: ({ venue }) => venue.heapBytes,
  },
  {
    ...{ what: "open handles", unit: "", scale: 1, basePerHour: 12, noise: 6 },
    windowMs: WINDOW_MS,
    of: ({ venue }) => venue.openFiles,
  },
];

/** Whether the soak fails because of it. */
export function isFault({ isGrowing, isJudged }: SoakFinding): boolean {
  return isGrowing && isJudged;
}

export function judgeSoak(
  samples: readonly SoakSample[],
  restarts: readonly Restart[],
): SoakFinding[] {
  const lives = livesOf(samples);
  return [
    ...WITHIN_A_LIFE.map((judged) => withinLives(judged, lives)),
    ...WITHIN_A_LIFE.slice(0, 2).map((judged) => betweenLives(judged, lives)),
    folderPerOrder(samples),
    tail(samples),
    ...restarts.map(ofRestart),
  ];
}

/** Of each process, the samples after its warm-up. */
function livesOf(samples: readonly SoakSample[]): SoakSample[][] {
  const lives = new Map<number, SoakSample[]>();
  for (const sample of samples) {
    const life = lives.get(sample.life) ?? [];
    life.push(sample);
    lives.set(sample.life, life);
  }
  return [...lives.values()].map((life) => {
    const share = WARM_UP_SHARE * (life.at(-1)?.ageMs ?? 0);
    const warmMs = Math.min(MAX_WARM_UP_MS, Math.max(WARM_UP_MS, share));
    return life.filter(({ ageMs }) => ageMs >= warmMs);
  });
}

/** The middle of the slopes of all lives. */
function withinLives(judged: Judged, lives: readonly (readonly SoakSample[])[]): SoakFinding {
  const { what, unit, scale, of, basePerHour, noise, windowMs } = judged;
  const floors = lives
    .map((life) => life.map((sample) => ({ x: sample.ageMs, y: of(sample) })))
    .map((points) => lowest(points, windowMs))
    .filter((floor) => floor.length >= LEAST_WINDOWS);
  const perHour = median(floors.map(slopeOf)) * HOUR_MS;
  const spanHours = median(floors.map((floor) => spanOf(floor) / HOUR_MS));
  const bound =
    basePerHour + noise / Math.max(spanHours, 1e-3) / Math.sqrt(Math.max(1, floors.length));
  const level = median(lives.flat().map(of));
  const shown = (value: number): string => `${(value / scale).toFixed(1)} ${unit}`.trim();
  return {
    what: `${what}, within a process`,
    level: shown(level),
    slope: `${shown(perHour)}/h`,
    bound: `${shown(bound)}/h`,
    isGrowing: perHour > bound,
    isJudged: floors.length > 0,
  };
}

/** The level of the last processes against that of the first. */
function betweenLives(judged: Judged, lives: readonly (readonly SoakSample[])[]): SoakFinding {
  const { what, unit, scale, of, noise } = judged;
  const warm = lives.filter((life) => life.length > 0);
  const levels = warm.map((life, x) => ({ x, y: median(life.map(of)) }));
  const growth = slopeOf(levels) * (warm.length - 1);
  const first = levels[0]?.y ?? 0;
  const bound = 0.15 * first + 2 * noise;
  const shown = (value: number): string => `${(value / scale).toFixed(1)} ${unit}`.trim();
  return {
    what: `${what}, over ${warm.length} processes`,
    level: `${shown(first)} in the first`,
    slope: `${shown(growth)} in all`,
    bound: `${shown(bound)} in all`,
    isGrowing: growth > bound,
    isJudged: warm.length > 1,
  };
}

/** Bytes an order in the second half against the first; segments are allocated whole. */
function folderPerOrder(samples: readonly SoakSample[]): SoakFinding {
  const half = Math.floor(samples.length / 2);
  const perOrder = (part: readonly SoakSample[]): number =>
    slopeOf(part.map(({ load, venue }) => ({ x: load.orders, y: venue.folderBytes })));
  const ordersIn = (part: readonly SoakSample[]): number =>
    Math.max(1, (part.at(-1)?.load.orders ?? 0) - (part[0]?.load.orders ?? 0));
  const [before, after] = [samples.slice(0, half), samples.slice(half)];
  const bound = 1.5 * perOrder(before) + SEGMENT_BYTES / ordersIn(after);
  const shown = (value: number): string => `${value.toFixed(0)} bytes an order`;
  return {
    what: "data folder, second half against first",
    level: shown(perOrder(before)),
    slope: shown(perOrder(after)),
    bound: shown(bound),
    isGrowing: perOrder(after) > bound,
    isJudged: true,
  };
}

/** p99 over time, of the windows without an attack and of processes that are warm. */
function tail(samples: readonly SoakSample[]): SoakFinding {
  const calm = livesOf(samples)
    .flat()
    .filter(({ isAttacked, load }) => !isAttacked && load.answered > 0)
    .map(({ atMs, load }) => ({ x: atMs, y: load.p99Ms }));
  const growth = slopeOf(calm) * spanOf(calm);
  const level = median(calm.map(({ y }) => y));
  const bound = Math.max(10, 0.5 * level);
  return {
    what: "p99 of an operation, without attack",
    level: `${level.toFixed(1)} ms`,
    slope: `${growth.toFixed(1)} ms in all`,
    bound: `${bound.toFixed(1)} ms in all`,
    isGrowing: growth > bound,
    isJudged: calm.length >= LEAST_WINDOWS,
  };
}

function ofRestart({ signal, code, readyMs, looked, missing }: Restart, i: number): SoakFinding {
  const isClean = signal === "SIGKILL" || code === 0;
  return {
    what: `restart ${i + 1}, ${signal}`,
    level: `ready after ${(readyMs / 1_000).toFixed(1)} s`,
    slope: `${missing.length} of ${looked} orders missing${isClean ? "" : `, exit code ${code}`}`,
    bound: "0 missing",
    isGrowing: missing.length > 0 || !isClean,
    isJudged: true,
  };
}

function spanOf(points: readonly Point[]): number {
  return (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Change of y per unit of x, as the median of the slopes of all pairs of points (Theil–Sen), which
 * single outliers do not decide; 0 of fewer than two points.
 */
export function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(i + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  return median(slopes);
}

/** The lowest point of each window of `width`: garbage that is not collected yet is no growth. */
export function lowest(points: readonly Point[], width: number): Point[] {
  const windows = new Map<number, Point>();
  for (const point of points) {
    const window = Math.floor(point.x / width);
    const held = windows.get(window);
    if (held === undefined || point.y < held.y) windows.set(window, point);
  }
  return [...windows.values()];
}
