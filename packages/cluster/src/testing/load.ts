/** Gateways that publish one batch after the other while a test disturbs the servers. */

import { until } from "@perpgate/journal/testing";
import type { LogGateway } from "./log-gateway.js";

export class Load {
  /** Texts of the batches that were delivered to their own gateway: what clients would be answered. */
  readonly acknowledged: string[] = [];
  /** The longest time that any one gateway was without an acknowledgement since `resetGap`. */
  longestGapMs = 0;
  /** When each gateway had its last one. */
  private readonly lastMs = new Map<LogGateway, number>();
  private isRunning = true;
  private readonly loops: Promise<void>[];

  private constructor(private readonly gateways: readonly LogGateway[]) {
    this.loops = gateways.map((gateway) => this.run(gateway));
  }

  static start(...gateways: readonly LogGateway[]): Load {
    return new Load(gateways);
  }

  resetGap(): void {
    this.longestGapMs = 0;
    for (const gateway of this.gateways) this.lastMs.set(gateway, performance.now());
  }

  /** Resolves after this many more acknowledgements at each gateway, or when all have stopped. */
  async more(count: number): Promise<void> {
    const targets = this.gateways.map(({ acknowledged }) => acknowledged + count);
    const isShort = ({ acknowledged }: LogGateway, index: number): boolean =>
      acknowledged < (targets[index] ?? 0);
    await until(() => !this.gateways.some(isShort) || this.isOver);
  }

  /** Stops publishing, and waits for what is in flight. */
  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.loops);
  }

  private get isOver(): boolean {
    return this.gateways.every(({ stopped }) => stopped !== undefined);
  }

  private async run(gateway: LogGateway): Promise<void> {
    for (let number = 0; this.isRunning && gateway.stopped === undefined; number++) {
      const text = `${gateway.writer} ${number}`;
      if (await gateway.publish(text)) this.acknowledge(gateway, text);
    }
  }

  private acknowledge(gateway: LogGateway, text: string): void {
    const now = performance.now();
    const gapMs = now - (this.lastMs.get(gateway) ?? now);
    this.longestGapMs = Math.max(this.longestGapMs, gapMs);
    this.lastMs.set(gateway, now);
    this.acknowledged.push(text);
  }
}

/** Waits until every gateway has applied what any of them has. */
export async function level(...gateways: readonly LogGateway[]): Promise<void> {
  const end = Math.max(...gateways.map(({ mirror }) => mirror.end));
  const isBehind = ({ mirror, stopped }: LogGateway): boolean =>
    mirror.end < end && stopped === undefined;
  await until(() => !gateways.some(isBehind));
}
