export { assertVenue, sandboxMatchers, type Wanted } from "./assertions.js";
export { startVenue } from "./control/control-server.js";
export type { Duration } from "./durations.js";
export { SandboxStopped } from "./failures.js";
export type { NextRequests, RefusalOptions } from "./faults.js";
export { MAX_SPEED } from "./followed-clock.js";
export type { LiquidityOptions } from "./liquidity.js";
export type {
  KeyedTrader,
  PlayOptions,
  SandboxOptions,
  SandboxTime,
  SavedVenue,
  TraderOptions,
} from "./options.js";
export { RecordingError } from "./replay/events.js";
export { openRecording, type Recording, type RecordingFile } from "./replay/recording.js";
export type { ReplayOptions, ReplayProgress, ReplayResult } from "./replay/replay.js";
export { reportHtml } from "./report/report-html.js";
export { type NamedReport, reportCsv, reportText } from "./report/report-text.js";
export {
  parseReport,
  type RequestReport,
  type RunReport,
  type TraderReport,
} from "./report/run-report.js";
export type { Playing, SandboxVenue } from "./sandbox.js";
export type { ScenarioProgress } from "./scenario/playback.js";
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
