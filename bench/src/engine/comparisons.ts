/** The apply path of this release compared with another's, and with itself at many accounts. */
import { type Command, ENGINE_VERSION, Engine } from "@perpgate/engine";
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

/**
 * The same commands through the release before and this one, turn by turn: this one under the rules of
 * the release before, and under its own where they are others.
 */
export async function againstBefore(
  report: Report,
  folder: string,
  flow: VenueFlow,
  turns: number,
): Promise<void> {
  const path = "packages/engine/dist/index.js";
  const before = await moduleOf<{ Engine: BareEngine; ENGINE_VERSION: number }>(folder, path);
  const versions = new Set([before.ENGINE_VERSION, ENGINE_VERSION]);
  const sides = [...versions].map((version) => ({ Side: Engine as BareEngine, version }));
  const [old, ...now] = await inTurns(
    "engine: both releases",
    turns,
    [{ Side: before.Engine, version: before.ENGINE_VERSION }, ...sides],
    ({ Side, version }) => processorMs(new Side(), flow, version),
  );
  for (const [i, { version }] of sides.entries()) {
    const metric = `apply, processor time, rules of version ${version}`;
    const perSecond = (flow.timed.length * 1_000) / Math.min(...now[i]!);
    const ratio = medianRatio(old!, now[i]!);
    report.add(metric, perSecond, "commands/s", "the release before, bar 1", ratio);
  }
}

function processorMs(engine: InstanceType<BareEngine>, flow: VenueFlow, version: number): number {
  for (const command of flow.opening) {
    const isFirst = command.kind === "Genesis";
    engine.apply(isFirst ? { ...command, engineVersion: version } : command);
  }
  globalThis.gc?.();
  const started = process.cpuUsage();
  for (const command of flow.timed) engine.apply(command);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
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
