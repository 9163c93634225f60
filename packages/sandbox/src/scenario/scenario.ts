/**
 * A scenario: what happens in a market, and what goes wrong, by time. One line each:
 *
 *     about A fall of 15 % in two seconds
 *     0s   takers BTCUSD rate=2 notional=500
 *     10s  price BTCUSD -15% in 2s
 *     2m   end
 *
 * Times are from the start of the scenario and never go back.
 */

import { type Act, actionOf } from "./actions.js";
import { SCENARIOS } from "./library.js";
import { listOf, ScenarioError, Words } from "./words.js";

export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** That it names. */
  readonly markets: readonly string[];
  readonly steps: readonly ScenarioStep[];
  readonly endMs: number;
}

interface ScenarioStep {
  readonly atMs: number;
  /** `FILE:LINE`, for what is refused while it plays. */
  readonly place: string;
  readonly act: Act;
}

const MAX_BYTES = 2 ** 20;

/** One of the sandbox's own. @throws ScenarioError */
export function namedScenario(name: string): Scenario {
  const text = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
  if (text !== undefined) return parseScenario(text, name);
  throw new ScenarioError(`no scenario is called ${name}: there is ${listOf(scenarioNames())}`);
}

export function scenarioNames(): string[] {
  return Object.keys(SCENARIOS);
}

/** `name` is what problems call the file. @throws ScenarioError */
export function parseScenario(text: string, name: string): Scenario {
  if (text.length > MAX_BYTES) throw new ScenarioError(`${name}: longer than ${MAX_BYTES} bytes`);
  const steps: ScenarioStep[] = [];
  const markets = new Set<string>();
  let about = "";
  let lastMs = 0;
  let endMs: number | undefined;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const words = new Words(name, at + 1, line);
    if (words.isOver) continue;
    if (words.skip("about")) {
      about = words.rest();
      continue;
    }
    if (endMs !== undefined) throw words.problem("nothing comes after the end", 1);
    const atMs = words.duration("a time such as 10s");
    if (atMs < lastMs) throw words.problem("times never go back: this line is earlier", 1);
    lastMs = atMs;
    if (words.skip("end")) {
      endMs = atMs;
      words.end();
      continue;
    }
    const act = actionOf(words).read(words);
    words.end();
    for (const [, market = ""] of line.matchAll(MARKET)) markets.add(market);
    steps.push({ atMs, place: `${name}:${at + 1}`, act });
  }
  if (endMs === undefined) throw new ScenarioError(`${name}: its last line is the end: 2m end`);
  return { name, about, markets: [...markets], steps, endMs };
}

const MARKET = /^\s*\S+\s+(?:price|index|liquidity|takers|market)\s+(\S+)/g;
