export { audit } from "./audit.js";
export * from "./commands.js";
export * from "./config.js";
export { Engine } from "./engine.js";
export { decodeEvents, EVENT, EVENT_KINDS, EventLog, isKind } from "./event-log.js";
export * from "./events.js";
export { InvariantViolation } from "./invariants.js";
export * from "./reasons.js";
export { SnapshotUnreadable, STATE_FORMAT } from "./state/snapshot.js";
