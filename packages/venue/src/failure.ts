import type { ExitDeadline } from "@perpgate/journal";

/** The one place that a failure of any part is brought to. */
export class Failure {
  readonly promise: Promise<Error>;
  onReport: (error: Error) => void = () => undefined;
  private resolve: (error: Error) => void = () => undefined;
  private isReported = false;

  constructor(private readonly exitDeadline?: ExitDeadline) {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** From here on threads end because the process does, which is no failure of theirs. */
  ignore(): void {
    this.isReported = true;
  }

  report(error: Error): void {
    if (this.isReported) return;
    this.isReported = true;
    // First: what follows writes to a log stream that may be blocked.
    this.exitDeadline?.fail(error.message);
    this.onReport(error);
    this.resolve(error);
  }
}
