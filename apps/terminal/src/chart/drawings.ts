/** What the trader has drawn on the charts: kept in the browser by market, shared by its tabs. */

import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";

export const DRAWING_KINDS = ["level", "line", "fib", "text"] as const;
export type DrawingKind = (typeof DRAWING_KINDS)[number];

export interface DrawnPoint {
  /** Unix milliseconds. */
  readonly time: number;
  readonly price: number;
}

export interface Drawing {
  readonly id: string;
  readonly symbol: string;
  readonly kind: DrawingKind;
  /** As many as `pointsOf` says. */
  readonly points: readonly DrawnPoint[];
  /** Of a text. */
  readonly text: string;
}

export const MOST_DRAWINGS = 200;
export const LONGEST_TEXT = 80;

/** How many points it has. */
export function pointsOf(kind: DrawingKind): number {
  return kind === "line" || kind === "fib" ? 2 : 1;
}

/** Parts of the way from the second price of a retracement back to the first. */
const RETRACEMENTS = [0, 0.236, 0.382, 0.5, 0.618, 0.786, 1];

export function retracements(from: DrawnPoint, to: DrawnPoint) {
  return RETRACEMENTS.map((share) => ({
    share,
    price: to.price + share * (from.price - to.price),
  }));
}

export class Drawings {
  readonly list = new Store<readonly Drawing[]>(readDrawings() ?? [], "immediate");

  /** Another tab may write. */
  start(): void {
    window.addEventListener("storage", () => this.list.set(this.stored()));
  }

  /** Whether there was room for it. */
  add(drawing: Omit<Drawing, "id">): boolean {
    const stored = this.stored();
    if (stored.length >= MOST_DRAWINGS) return false;
    const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
    this.write([...stored, { ...drawing, id }]);
    return true;
  }

  remove(id: string): void {
    this.write(this.stored().filter((drawing) => drawing.id !== id));
  }

  clear(symbol: string): void {
    this.write(this.stored().filter((drawing) => drawing.symbol !== symbol));
  }

  /** Where the browser forbids storage, what this tab knows. */
  private stored(): readonly Drawing[] {
    return readDrawings() ?? this.list.get();
  }

  private write(drawings: readonly Drawing[]): void {
    writePreference("drawings", JSON.stringify(drawings));
    this.list.set(drawings);
  }
}

function readDrawings(): readonly Drawing[] | undefined {
  const text = readPreference("drawings");
  if (text === undefined) return undefined;
  try {
    const kept: unknown = JSON.parse(text);
    return Array.isArray(kept) ? kept.filter(isDrawing).slice(0, MOST_DRAWINGS) : [];
  } catch {
    // Not written by this page.
    return [];
  }
}

function isDrawing(value: unknown): value is Drawing {
  if (typeof value !== "object" || value === null) return false;
  const { id, symbol, kind, points, text } = value as Partial<Drawing>;
  return (
    typeof id === "string" &&
    typeof symbol === "string" &&
    typeof text === "string" &&
    text.length <= LONGEST_TEXT &&
    DRAWING_KINDS.some((name) => name === kind) &&
    Array.isArray(points) &&
    kind !== undefined &&
    points.length === pointsOf(kind) &&
    points.every(isPoint)
  );
}

function isPoint(value: unknown): value is DrawnPoint {
  if (typeof value !== "object" || value === null) return false;
  const { time, price } = value as Partial<DrawnPoint>;
  return Number.isFinite(time) && Number.isFinite(price);
}
