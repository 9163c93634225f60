/** What the log reports for readiness, metrics and the operator. */

import type { WriterView } from "./agreement.js";
import type { StreamState } from "./jetstream-api.js";
import type { Refusal } from "./publisher.js";

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
  readonly republished: number;
  /** Dropped messages since the log was opened. */
  readonly malformed: number;
  readonly chainDrops: number;
  /** Writers heard in the last 5 s. */
  readonly writers: readonly (WriterView & { readonly isLive: boolean })[];
  /** Why the server refuses the batch in flight, for example a full stream. */
  readonly refusal: Refusal | undefined;
  /** As the stream's leader has described it; undefined before the first answer, and 5 s after the last. */
  readonly stream: StreamState | undefined;
}
