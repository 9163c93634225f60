/** What every call of a sandbox rejects with from its stop on; the control API sends 503. */
export class SandboxStopped extends Error {
  override readonly name = "SandboxStopped";
  readonly statusCode = 503;

  constructor() {
    super("this sandbox has stopped");
  }
}
