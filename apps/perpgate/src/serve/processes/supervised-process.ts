/** The supervisor's side of one of its processes. */

import type { ChildProcess } from "node:child_process";

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface MetricsAnswer {
  readonly kind: "metrics";
  readonly id: number;
  readonly text?: string;
}

/** For the text of a process's metrics. A process that takes longer is busy or stopped. */
const METRICS_MS = 2_000;

export class SupervisedProcess<
  ToProcess extends object,
  FromProcess extends { readonly kind: string },
> {
  /** Resolves after the last message. */
  readonly ended: Promise<Ending>;
  private readonly asked = new Map<number, (text: string | undefined) => void>();
  private lastId = 0;

  constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    data: object,
    onMessage: (message: FromProcess) => void,
  ) {
    this.ended = new Promise((resolve) => {
      // A channel whose process is gone; one that could not be started does not exit.
      child.on("error", () => {
        if (child.pid === undefined) resolve({ code: 1, signal: null });
      });
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
    void this.ended.then(() => {
      for (const answer of this.asked.values()) answer(undefined);
    });
    child.on("message", (message: FromProcess | MetricsAnswer) => {
      if (isMetrics(message)) this.asked.get(message.id)?.(message.text);
      else onMessage(message);
    });
    if (child.pid !== undefined) child.send(data, () => undefined);
  }

  /** No-op once the process has ended. */
  send(message: ToProcess | { readonly kind: "metrics"; readonly id: number }): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }

  /** Resolves once it has ended, which takes at most `withinMs`: then it is killed. */
  async endedWithin(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.kill(), withinMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** The metrics of the process alone; undefined if it does not answer. */
  async metrics(): Promise<string | undefined> {
    if (!this.child.connected) return undefined;
    const id = ++this.lastId;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<string | undefined>((resolve) => {
      this.asked.set(id, resolve);
      timer = setTimeout(() => resolve(undefined), METRICS_MS);
      this.send({ kind: "metrics", id });
    });
    return answer.finally(() => {
      clearTimeout(timer);
      this.asked.delete(id);
    });
  }
}

function isMetrics(message: { readonly kind: string }): message is MetricsAnswer {
  return message.kind === "metrics";
}
