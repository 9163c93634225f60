/** Ctrl-C as an abort signal. A second Ctrl-C ends the process immediately. */

export class Interruption {
  private readonly controller = new AbortController();
  private readonly stop = () => {
    if (this.controller.signal.aborted) process.exit(130);
    this.controller.abort(new Error("interrupted"));
  };

  constructor() {
    process.on("SIGINT", this.stop);
    process.on("SIGTERM", this.stop);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get hasHappened(): boolean {
    return this.controller.signal.aborted;
  }

  /** Resolves on Ctrl-C. */
  wait(): Promise<void> {
    const { signal } = this;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  end(): void {
    process.off("SIGINT", this.stop);
    process.off("SIGTERM", this.stop);
  }
}
