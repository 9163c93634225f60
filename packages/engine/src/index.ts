export { audit } from "./audit.js";
export * from "./commands.js";
export * from "./config.js";
export { Engine } from "./engine.js";
export { decodeEvents, EventLog, isKind } from "./events/event-log.js";
export * from "./events/event-table.js";
export * from "./reasons.js";
export { SnapshotUnreadable, STATE_FORMAT } from "./snapshot/snapshot.js";
export * from "./versions.js";
