/** The replicated log's errors. Each message says what was found, where, and what to do. */

type ClusterErrorCode =
  /** The servers or the stream do not have what the log needs. */
  | "unsuitable"
  | "unreachable"
  | "no_stream"
  /** The stream no longer holds the messages that this gateway needs. */
  | "join_needed"
  /** The stream and this gateway's copy of it differ. */
  | "diverged"
  | "already_initialised"
  | "reseed_refused"
  /** A part that the log cannot work without failed: the mirror, the reader of its batches. */
  | "failed";

export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  /** The stream sequence that the error is about. */
  readonly sequence: number | undefined;

  constructor(
    code: ClusterErrorCode,
    message: string,
    options: ErrorOptions & { readonly sequence?: number } = {},
  ) {
    super(message, options);
    this.name = "ClusterError";
    this.code = code;
    this.sequence = options.sequence;
  }
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
