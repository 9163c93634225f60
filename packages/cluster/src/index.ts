export { ClusterError } from "./errors.js";
export { FencedLog } from "./fenced-log.js";
export { addressOf } from "./greeting.js";
export { createStream, publishGenesis } from "./init.js";
export { connectToAny, type ServerAccess } from "./link.js";
export { type ReseedOptions, reseed } from "./reseed.js";
export type { CoreView, LogStatus } from "./status.js";
export { isAtLeast, MIN_SERVER, type StreamOptions } from "./stream-config.js";
export { subjectOf } from "./subjects.js";
