/**
 * The largest commands and ticks that a search finds, in work units and in processor time: the bound of a
 * command, and whether a unit costs the same whatever it was for (docs/engine.md, "Work").
 */
import { RULE_SETS } from "@perpgate/engine";
import { type Goal, type Shape, search, type Trial, trialsOf } from "@perpgate/engine/testing";
import { ThreadClock } from "./engine/thread-clock.js";
import { parseOptions } from "./harness/options.js";
import { progress, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- work",
  about: "Searches for the commands that take the most of the engine: units, time, time per unit.",
  numbers: {
    seeds: ["searches, each with three goals", 4, 1],
    shapes: ["random shapes of a search", 30, 10],
    steps: ["steps of a search from its best shape", 40, 10],
    accounts: ["accounts that may be met", 60, 30],
    orders: ["open orders of each in a market", 500, 500],
    markets: ["markets, each with the same orders", 3, 1],
  },
});

/** Below this, what every command costs, and the clock, decide. */
const LEAST_UNITS = 2_000;
const AGAIN = 5;

const clock = new ThreadClock();
const size = {
  ruleSets: RULE_SETS,
  maxOpenOrders: options.number("orders"),
  clock: () => clock.ms(),
  accounts: options.number("accounts"),
  markets: options.number("markets"),
  random: options.number("shapes"),
  steps: options.number("steps"),
};
const report = new Report("work");

const GOALS: Readonly<Record<string, Goal>> = {
  units: (trials) => Math.max(...trials.map(({ units }) => units)),
  ms: (trials) => Math.max(...trials.map(({ ms }) => ms)),
  "ms per unit": (trials) => Math.max(...trials.map(perUnit)),
};

function perUnit({ units, ms }: Trial): number {
  return units < LEAST_UNITS ? 0 : (ms * 1_000) / units;
}

interface Found {
  readonly shape: Shape;
  readonly trial: Trial;
}

/** By kind of command the trials with the highest figures. */
class Highest {
  readonly byKind = new Map<string, Found>();

  constructor(private readonly of: (trial: Trial) => number) {}

  observe(trials: readonly Trial[], shape: Shape): void {
    for (const trial of trials) {
      const kind = kindOf(trial);
      const known = this.byKind.get(kind);
      if (known === undefined || this.of(trial) > this.of(known.trial)) {
        this.byKind.set(kind, { shape, trial });
      }
    }
  }

  /** Measured again, the fastest of some turns: what is left is not the machine's. */
  *measured(): Generator<readonly [kind: string, trial: Trial]> {
    for (const [kind, { shape, trial }] of this.byKind) {
      let fastest = trial;
      for (let i = 0; i < AGAIN; i++) {
        const again = trialsOf(shape, size).find(({ name }) => name === trial.name);
        if (again !== undefined && again.ms < fastest.ms) fastest = again;
      }
      if (this.of(fastest) > 0) yield [kind, fastest];
    }
  }
}

function kindOf({ name }: Trial): string {
  return name.replace(/ \d+$|, again$/, "");
}

const units = new Highest((trial) => trial.units);
const longest = new Highest((trial) => trial.ms);
const dearest = new Highest(perUnit);
const cheapest = new Highest((trial) => (trial.units < LEAST_UNITS ? 0 : 1 / perUnit(trial)));
const all = [units, longest, dearest, cheapest];

// A first search, so that no code is compiled for the first time.
search(0, { ...size, random: 8, steps: 4 }, GOALS.units!, () => {});
for (let seed = 1; seed <= options.number("seeds"); seed++) {
  for (const [name, goal] of Object.entries(GOALS)) {
    progress(`work: seed ${seed}, ${name} …`);
    search(seed, size, goal, (trials, shape) => {
      for (const each of all) each.observe(trials, shape);
    });
  }
}

for (const [kind, { trial }] of units.byKind)
  report.add(`most units, ${kind}`, trial.units, "units");
let most = 0;
for (const [kind, { ms, units: count }] of longest.measured()) {
  most = Math.max(most, ms);
  report.add(`longest, ${kind}`, ms, "ms", `${count} units; bar 8 ms`, ms / 8);
}
let highest = 0;
let lowest = Number.POSITIVE_INFINITY;
for (const [kind, trial] of dearest.measured()) {
  highest = Math.max(highest, perUnit(trial));
  report.add(`dearest unit, ${kind}`, perUnit(trial), "µs", `of ${trial.units} units`);
}
for (const [kind, trial] of cheapest.measured()) {
  lowest = Math.min(lowest, perUnit(trial));
  report.add(`cheapest unit, ${kind}`, perUnit(trial), "µs", `of ${trial.units} units`);
}
report.add("dearest unit / cheapest", highest / lowest, "times", "bar 3", highest / lowest / 3);
report.print(options.has("json"));
