/**
 * Close codes that the server sends. 4000 to 4999 are free for applications; violations of the protocol
 * keep the codes of RFC 6455: 1009 message too large, 1007 not UTF-8, 1002 malformed frame.
 */

export interface CloseReason {
  readonly code: number;
  readonly reason: string;
}

export const CLOSE = {
  /** The gateway stops; clients resume from `since` at another gateway or after its restart. */
  stopping: { code: 1001, reason: "stopping" },
  /** A frame that must not be skipped could not be encoded; the client resumes from `since`. */
  internalError: { code: 1011, reason: "internal_error" },
  /** The session of this socket's token ended or expired. */
  sessionEnded: { code: 4401, reason: "session_ended" },
  /** Frames that must not be skipped exceed `maxBufferedBytes`. */
  tooSlow: { code: 4408, reason: "too_slow" },
  /** The client kept sending after `rate_limited` errors. */
  rateLimited: { code: 4429, reason: "rate_limited" },
} as const satisfies Record<string, CloseReason>;
