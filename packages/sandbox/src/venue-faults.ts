/** The calls of a test that let something go wrong between clients and the venue. */

import { type Duration, durationMs } from "./durations.js";
import type { NextRequests, PlannedFaults, RefusalOptions } from "./faults.js";
import type { Parts } from "./parts.js";
import type { Latency } from "./wire.js";

/** What a test lets go wrong between clients and the venue. */
export interface VenueFaults {
  /** Delays every byte, by half of it each way; `{ ms: 0 }` ends that. */
  latency(latency: Latency): void;
  /** Cuts every open WebSocket, as a network does: without a close frame. */
  dropSockets(): void;
  /** Refuses the next requests with a code of the error table, without executing them. */
  refuse(code: string, options?: RefusalOptions): void;
  /** Executes the next requests, and answers `stopped`, as a gateway that lost its core. */
  loseAnswers(options?: NextRequests): void;
  /** Stops the gateway, while the venue goes on, and starts it again on the same port. */
  restartGateway(options?: { downFor?: Duration }): Promise<void>;
  /** Forgets refusals and losses that have not happened yet, and ends latency. */
  clear(): void;
}

export class Faults implements VenueFaults {
  constructor(
    private readonly planned: PlannedFaults,
    private readonly parts: () => Parts,
    private readonly restart: (downMs: number) => Promise<void>,
  ) {}

  latency(latency: Latency): void {
    this.planned.delay(latency);
  }

  dropSockets(): void {
    this.parts().gateway.streams.cut();
  }

  refuse(code: string, options: RefusalOptions = {}): void {
    this.planned.refuse(code, options);
  }

  loseAnswers(options: NextRequests = {}): void {
    this.planned.loseAnswers(options);
  }

  restartGateway({ downFor = 0 }: { downFor?: Duration } = {}): Promise<void> {
    return this.restart(durationMs(downFor));
  }

  clear(): void {
    this.planned.clear();
  }
}
