/** The apply path of this release compared with another's, and with itself at many accounts. */
import { type Command, Engine } from "@perpgate/engine";
import { moduleOf } from "../harness/release-before.js";
import { inTurns, median, medianRatio, type Report } from "../harness/report.js";
import { VenueFlow } from "./venue-flow.js";

/** What every release's engine can do. */
type BareEngine = new () => { apply(command: Command): unknown };

const SLICE = 10_000;

/** Milliseconds. */
export function applyAll(engine: Engine, commands: readonly Command[]): number {
  const started = performance.now();
  for (let i = 0; i < commands.length; i++) engine.apply(commands[i]!);
  return performance.now() - started;
}

/** The same commands through this release and the one before, turn by turn. */
export async function againstBefore(
  report: Report,
  folder: string,
  flow: VenueFlow,
  turns: number,
): Promise<void> {
  const path = "packages/engine/dist/index.js";
  const before = await moduleOf<{ readonly Engine: BareEngine }>(folder, path);
  const sides: readonly BareEngine[] = [before.Engine, Engine];
  const [old, now] = await inTurns("engine: both releases", turns, sides, (Side) => {
    const engine = new Side();
    for (const command of flow.opening()) engine.apply(command);
    const started = process.cpuUsage();
    for (const command of flow.timed) engine.apply(command);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  });
  const perSecond = (flow.timed.length * 1_000) / Math.min(...now!);
  const ratio = medianRatio(old!, now!);
  report.add("apply, processor time", perSecond, "commands/s", "the release before", ratio);
}

/** Slices of the two flows in turn, so that a change of the machine's speed affects both. */
export function manyAccounts(report: Report, few: number, many: number, count: number): void {
  const sides = [few, many].map((accounts) => {
    const flow = new VenueFlow(accounts, count);
    return { timed: flow.timed, engine: flow.prepare(), ms: [] as number[] };
  });
  globalThis.gc?.();
  for (let from = 0; from < count; from += SLICE) {
    for (const { timed, engine, ms } of sides) {
      ms.push(applyAll(engine, timed.slice(from, from + SLICE)));
    }
  }
  // The first slices compile the code.
  const [small, large] = sides.map(({ ms }) => ms.slice(Math.floor(ms.length / 4)));
  const perSecond = (SLICE * 1_000) / median(large!);
  const ratio = medianRatio(large!, small!);
  report.add(`apply, ${many} accounts`, perSecond, "commands/s", `cost at ${few}`, ratio);
}
