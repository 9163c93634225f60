/** The parts below `Venue`, for tests and benches that look at one part alone. */
export { RESOLUTION_MS } from "../history/candle-projection.js";
export { History } from "../history/history.js";
export { openHistoryStore } from "../history/history-store.js";
export { ORDER_ROW } from "../history/order-row.js";
export { dataFolder } from "../recovery/data-folder.js";
export { type Recovered, recover, surroundingsOf } from "../recovery/recover.js";
export {
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "../recovery/replica-state.js";
export { TestVenue } from "./test-venue.js";
