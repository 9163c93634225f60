export { type Evidence, NO_EVIDENCE } from "./record/evidence.js";
export { decodeRecord, encodeRecord, type LogRecord, RecordUnreadable } from "./record/record.js";
export { type Applied, type CommandObserver, ReplayFailed, Replica } from "./replica.js";
export { Sequencer, type Submitter, VenueStopped } from "./sequencer.js";
