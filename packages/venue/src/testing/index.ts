/** Parts of the venue, for tests and benches that use one part alone. */
export { openHistoryStore } from "../history/history-store.js";
export { dataFolder } from "../recovery/data-folder.js";
export { type Recovered, recover } from "../recovery/recover.js";
export {
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "../recovery/replica-state.js";
export { freePort, Litewitness } from "./litewitness.js";
export { StubWitness } from "./stub-witness.js";
export { orderCommand, signInCommand, signInMessage, TestVenue } from "./test-venue.js";
