/** What a sandbox tells its page, and how the page moves its time. */

import { Store } from "../state/store.js";
import type { PageClock } from "./venue-clock.js";

interface SandboxState {
  /** The venue's time, Unix milliseconds. */
  readonly time: number;
  /** Times that of the clock; 0: it stands. */
  readonly speed: number;
  /** How fast it was in the last seconds: less where the machine cannot keep the speed. */
  readonly measuredSpeed: number;
}

const READ_EVERY_MS = 1_000;

/** Undefined: no sandbox. `control` is empty where the sandbox has no control API. */
export function sandboxInPage(): { readonly control: string } | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="perpgate-sandbox"]');
  return meta === null ? undefined : { control: meta.content };
}

export class SandboxFeed {
  /** Undefined: not known. */
  readonly state = new Store<SandboxState | undefined>(undefined);

  constructor(
    private readonly control: string,
    private readonly clock: PageClock,
  ) {}

  start(): void {
    const read = () => this.call("state").catch(() => this.state.set(undefined));
    setInterval(read, READ_EVERY_MS);
    void read();
  }

  /** @throws Error with the sandbox's words. */
  setSpeed(speed: number): Promise<void> {
    return this.call("time", { speed });
  }

  /** Lets this much time pass, without waiting for it. @throws Error with the sandbox's words. */
  advance(duration: string): Promise<void> {
    return this.call("advance", { duration });
  }

  private async call(name: string, body?: object): Promise<void> {
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    const response = await fetch(
      `${this.control}/${name}`,
      body === undefined ? {} : { ...post, body: JSON.stringify(body) },
    );
    const answer: Partial<SandboxState> & { message?: string } = await response.json();
    const { time, speed, measuredSpeed, message } = answer;
    if (!response.ok || time === undefined || speed === undefined || measuredSpeed === undefined) {
      throw new Error(message ?? `the sandbox answers ${response.status}`);
    }
    // Nothing is measured yet right after a change.
    this.clock.note(time, measuredSpeed > 0 ? Math.min(speed, measuredSpeed) : speed);
    this.state.set({ time, speed, measuredSpeed });
  }
}
