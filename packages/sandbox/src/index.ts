export { type ControlServer, startControl } from "./control/control-server.js";
export type { Duration } from "./durations.js";
export type { LiquidityOptions } from "./liquidity.js";
export {
  type KeyedTrader,
  type SandboxOptions,
  type SandboxTime,
  type SandboxVenue,
  type SavedVenue,
  startVenue,
  type TraderOptions,
} from "./sandbox.js";
