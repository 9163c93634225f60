/** A reason not to start that the operator can act on: one line, no stack, exit code 1. */

export class StartError extends Error {
  override readonly name = "StartError";
}
