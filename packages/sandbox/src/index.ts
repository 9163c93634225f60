export { type ControlServer, startControl } from "./control/control-server.js";
export type { Duration } from "./durations.js";
export type { NextRequests, RefusalOptions } from "./faults.js";
export type { LiquidityOptions } from "./liquidity.js";
export {
  type KeyedTrader,
  type PlayOptions,
  type SandboxOptions,
  type SandboxTime,
  type SandboxVenue,
  type SavedVenue,
  startVenue,
  type TraderOptions,
} from "./sandbox.js";
export {
  namedScenario,
  parseScenario,
  type Scenario,
  scenarioNames,
} from "./scenario/scenario.js";
export { ScenarioError } from "./scenario/words.js";
export type { TakerOptions } from "./takers.js";
export type { VenueFaults } from "./venue-faults.js";
export type { Latency } from "./wire.js";
