/** The largest single command in every phase in the life of a full venue. */
import { progress, type Report } from "../harness/report.js";
import { Crowd, type CrowdSize } from "./crowd.js";
import { Stopwatch } from "./stopwatch.js";
import { INDEX_TICKS } from "./venue-flow.js";

export async function largestCommands(report: Report, size: CrowdSize): Promise<void> {
  const stopwatch = new Stopwatch();
  const phases: readonly [name: string, run: (crowd: Crowd) => void][] = [
    ["sign-ins", (crowd) => crowd.signIn()],
    [`${size.accounts} positions opened`, (crowd) => crowd.openPositions()],
    [`${size.orders} orders placed`, (crowd) => crowd.rest()],
    ["orders that meet 2,000 makers", (crowd) => crowd.sweep()],
    [`${size.stops} stops placed`, (crowd) => crowd.placeStops()],
    ["quiet ticks", (crowd) => crowd.ticks(50, INDEX_TICKS)],
    ["stops reached, and waiting", (crowd) => crowd.reachStops()],
    ["a funding hour", (crowd) => crowd.fund()],
    ["a fall of 12 %", (crowd) => crowd.crash()],
  ];
  // A small venue first, so that no code is compiled for the first time.
  const smallSize = { accounts: 20_000, orders: 20_000, stops: 10_000 };
  const small = new Crowd(smallSize, (engine, command) => engine.apply(command));
  for (const [, run] of phases) run(small);
  const crowd = new Crowd(size, (engine, command) => stopwatch.apply(engine, command));
  for (const [name, run] of phases) {
    progress(`engine:   ${name} …`);
    run(crowd);
    const found = await stopwatch.largest();
    const against =
      `bar 5 ms; ${found.above5Ms} of ${found.commands} above; ${found.leftOut} left out, the ` +
      `machine was slow; garbage collection ${found.longestCollectionMs.toFixed(1)} ms`;
    report.add(`largest command, ${name}: ${found.kind}`, found.ms, "ms", against, found.ms / 5);
  }
  stopwatch.end();
}
