/**
 * Sends a recording to a server that discards it: the same bytes over the same number of
 * connections at the same times, without the answers.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Line, type LineAddress, type LineWatcher } from "./line.js";
import type { Recording, WireStep } from "./recording.js";
import { type Tally, TallyCounter } from "./tally.js";

const UNWATCHED: LineWatcher = {
  onWrite: () => undefined,
  onEnd: () => undefined,
  onGone: () => undefined,
};
const READ_BYTES = 4_096;
const STEPS_PER_TURN = 64;

export async function replay(
  { steps }: Recording,
  address: LineAddress,
  lastsMs: number,
): Promise<Tally> {
  const tally = new TallyCounter();
  const lines = new Map<number, Line>();
  const readBuffer = Buffer.allocUnsafe(READ_BYTES);
  const take = (step: WireStep): void => {
    if (step.act === "open") {
      tally.connections++;
      lines.set(step.line, new Line(step.line, address, {}, tally, UNWATCHED, readBuffer));
      return;
    }
    const line = lines.get(step.line);
    if (step.act === "write") line?.write(step.bytes);
    else if (step.act === "end") line?.end();
    else {
      line?.destroy();
      lines.delete(step.line);
    }
  };
  const startedMs = performance.now();
  for (let at = 0; at < steps.length; ) {
    const elapsedMs = performance.now() - startedMs;
    // A few steps a turn, so that sockets make progress even where the schedule is behind.
    const end = Math.min(at + STEPS_PER_TURN, steps.length);
    while (at < end && Math.min(steps[at]!.atMs, lastsMs) <= elapsedMs) take(steps[at++]!);
    const nextMs = Math.min(steps[at]?.atMs ?? 0, lastsMs) - elapsedMs;
    if (nextMs > 2) await sleep(nextMs - 1);
    else await nextTurn();
  }
  await sleep(Math.max(0, startedMs + lastsMs - performance.now()));
  for (const line of lines.values()) line.destroy();
  return tally.result();
}
