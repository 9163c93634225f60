/** Parts of the venue, for tests and benches that use one part alone. */
export { FollowedHistory } from "../history/followed-history.js";
export { openHistoryStore } from "../history/history-store.js";
export { prepare } from "../history/sqlite.js";
export { StoredTable } from "../history/stored-table.js";
export { dataFolder } from "../recovery/data-folder.js";
export { recover } from "../recovery/recover.js";
export {
  decodeReplicaState,
  encodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "../recovery/replica-state.js";
export { PastLists } from "../service/past-lists.js";
export { type BusyVenue, busyVenue } from "./busy-venue.js";
export { editStore } from "./edit-store.js";
export { StubWitness } from "./stub-witness.js";
export { orderCommand, signInCommand, signInMessage, TestVenue } from "./test-venue.js";
export { beginLog, copyLog } from "./written-log.js";
