/**
 * Why a socket is closed by this side, as the codes that a client sees. 4000 to 4999 are for
 * applications to give a meaning; what the protocol itself forbids (a message too large, text that
 * is not UTF-8, a malformed frame) keeps the codes of RFC 6455: 1009, 1007, 1002.
 */

export interface CloseReason {
  readonly code: number;
  readonly reason: string;
}

export const CLOSE = {
  /** The gateway stops; another, or a later one, goes on from `since`. */
  stopping: { code: 1001, reason: "stopping" },
  /** A frame that may not be left out could not be made; the client resumes from `since`. */
  internalError: { code: 1011, reason: "internal_error" },
  /** The session of this socket's token ended or expired. */
  sessionEnded: { code: 4401, reason: "session_ended" },
  /** Frames that may not be dropped have piled up past the cap. */
  tooSlow: { code: 4408, reason: "too_slow" },
  /** It kept sending after it was told that it sends too fast. */
  rateLimited: { code: 4429, reason: "rate_limited" },
} as const satisfies Record<string, CloseReason>;
