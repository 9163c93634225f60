import { expect, onTestFinished, test, vi } from "vitest";
import type { FromAttestors } from "./messages.js";
import { ProcessPort } from "./process-port.js";

const START = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

/** A port, and a request that is answered at the venue's time `nowMs`. */
function startPort(wallMs: number): {
  readonly port: ProcessPort;
  readonly ask: (nowMs: number) => void;
} {
  vi.useFakeTimers({ now: wallMs, toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: FromAttestors[] = [];
  const data = { members: [], venueId: "", nowMs: START };
  const port = new ProcessPort((message) => sent.push(message), data);
  const ask = (nowMs: number): void => {
    void port.pending("arbitrum", 0, "ascending", 0);
    const request = sent.at(-1);
    if (request?.kind !== "request") throw new Error("no request");
    port.onMessage({ kind: "response", id: request.id, rows: [], isLast: true, next: null, nowMs });
  };
  return { port, ask };
}

test("a machine's clock an hour ahead, then right: the venue's time, never back", () => {
  const { port, ask } = startPort(START + HOUR_MS);
  expect(port.nowMs()).toBe(START);
  vi.advanceTimersByTime(500);
  expect(port.nowMs()).toBe(START + 500);
  ask(START + 600);
  expect(port.nowMs()).toBe(START + 600);
  vi.setSystemTime(START + 600);
  expect(port.nowMs()).toBe(START + 600);
  vi.advanceTimersByTime(200);
  expect(port.nowMs()).toBe(START + 800);
});

test("a venue whose time stands: the time waits for it, and goes on with it", () => {
  const { port, ask } = startPort(START);
  vi.advanceTimersByTime(5_000);
  expect(port.nowMs()).toBe(START + 5_000);
  ask(START + 1_000);
  expect(port.nowMs()).toBe(START + 5_000);
  vi.advanceTimersByTime(3_000);
  expect(port.nowMs()).toBe(START + 5_000);
  vi.advanceTimersByTime(1_500);
  expect(port.nowMs()).toBe(START + 5_500);
});
