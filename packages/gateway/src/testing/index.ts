/** A real venue with a real gateway on a free port, for tests of clients. */

export { POLL, until } from "@perpgate/journal/testing";
export {
  newFolder,
  type RunningVenue,
  runVenue,
  startAheadOfClients,
} from "../venue/testing/running-venue.js";
export { Trader } from "../venue/testing/trader.js";
export { OrderFlow } from "../ws/testing/order-flow.js";
export { fieldsOf, StreamClient } from "../ws/testing/stream-client.js";
export { CuttingProxy, type Direction, type Fate } from "./cutting-proxy.js";
export { type Answer, ask } from "./running-gateway.js";
