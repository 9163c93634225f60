/** What the log reports for readiness, metrics and the operator. */

import type { Heartbeat } from "./heartbeat.js";
import type { StreamFigures } from "./jetstream-api.js";
import type { Obstacle } from "./takeover.js";

export interface LogStatus {
  /** Address of the connected server; "" without a connection. */
  readonly server: string;
  /** Why no server is connected: the newest error of each; "" while one is, and before the first try. */
  readonly connectionProblem: string;
  /** Connections made after the first. */
  readonly reconnects: number;
  /** Times that the reader replaced its consumer. */
  readonly recoveries: number;
  /** Last delivered sequence. */
  readonly lastSeq: number;
  /** Last sequence that the stream is known to have. */
  readonly streamLastSeq: number;
  /** For how long messages have been known that are not delivered yet. */
  readonly lagMs: number;
  /** How long the batch in flight has waited for its delivery; 0 if there is none. */
  readonly waitedMs: number;
  /** As the stream's leader has described it; undefined before the first answer, and 5 s after the last. */
  readonly stream: StreamFigures | undefined;
  readonly leads: boolean;
  /** Why a core that does not lead would not claim now. */
  readonly obstacle: Obstacle | undefined;
  /** Which core has another log; empty: none. */
  readonly otherChain: string;
  readonly isClockWrong: boolean;
  /** This one first, then those heard in the last 5 s. */
  readonly cores: readonly CoreView[];
  /** Why the servers refused the newest publish, other than for its place; empty if they did not. */
  readonly refusal: string;
}

export interface CoreView {
  readonly heartbeat: Heartbeat;
  /** How far its clock is ahead of this core's. */
  readonly aheadMs: number;
}
