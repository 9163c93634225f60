/**
 * Tests of rules that are specified and not built yet. They are skipped, with a line that says what
 * they wait for; `PERPGATE_PENDING=1` runs them.
 */
import { test } from "vitest";

const isRunning = process.env.PERPGATE_PENDING === "1";

export function pendingTest(waitsFor: string, name: string, run: () => void): void {
  if (!isRunning) console.warn(`skipped, waits for ${waitsFor}: ${name}`);
  test.skipIf(!isRunning)(name, run);
}
