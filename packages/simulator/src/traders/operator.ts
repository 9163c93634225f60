/**
 * The venue's own commands: its beginning, ticks by the machine's clock, a resume after a pause,
 * index prices that wander and sometimes crash, a change of parameters.
 */

import { ENGINE_VERSION } from "@perpgate/engine";
import type { Random } from "@perpgate/protocol/random";
import { NO_EVIDENCE } from "@perpgate/venue";
import { LISTING, START_TICKS } from "../listing.js";
import type { Gateway } from "./gateway.js";

const SLOT_MS = 200;
const PAUSE_MS = 1_000;

export class Operator {
  private readonly ticks: number[] = [...START_TICKS];
  private lastTickMs = 0;

  constructor(private readonly random: Random) {}

  /** What a process does first; `isBegun` is what it found in its log. */
  start(gateway: Gateway, nowMs: number, isBegun: boolean): void {
    if (!isBegun) {
      submit(gateway, {
        kind: "Genesis",
        stampMs: nowMs,
        config: LISTING,
        cohort: "open",
        engineVersion: ENGINE_VERSION,
      });
    }
    this.resume(gateway, nowMs);
    for (const market of this.ticks.keys()) this.updateIndex(gateway, nowMs, market);
  }

  act(gateway: Gateway, nowMs: number): void {
    const random = this.random;
    if (nowMs - this.lastTickMs > PAUSE_MS) this.resume(gateway, nowMs);
    if (random.chance(0.8)) {
      this.lastTickMs = nowMs;
      submit(gateway, { kind: "Tick", slot: Math.floor(nowMs / SLOT_MS) });
    }
    if (random.chance(0.4)) this.updateIndex(gateway, nowMs, random.below(START_TICKS.length));
    if (random.chance(0.02)) this.configure(gateway, nowMs);
  }

  private resume(gateway: Gateway, nowMs: number): void {
    this.lastTickMs = nowMs;
    submit(gateway, { kind: "Resume", stampMs: nowMs });
  }

  private updateIndex(gateway: Gateway, nowMs: number, market: number): void {
    const random = this.random;
    const start = START_TICKS[market] ?? START_TICKS[0];
    const move = random.chance(0.1) ? 0.12 : 0.004;
    const ticks = (this.ticks[market] ?? start) * (1 + move * (random.next() - 0.5));
    const indexTicks = Math.round(Math.min(start * 1.3, Math.max(start * 0.7, ticks)));
    this.ticks[market] = indexTicks;
    submit(gateway, { kind: "UpdateIndex", stampMs: nowMs, market, indexTicks });
  }

  private configure(gateway: Gateway, stampMs: number): void {
    const takerFeePpm = this.random.pick([0, 500, 900]);
    const markets = LISTING.markets.map((market) => ({ ...market, takerFeePpm }));
    submit(gateway, {
      kind: "Configure",
      stampMs,
      expiresAtMs: stampMs + 60_000,
      config: { ...LISTING, markets },
    });
  }
}

function submit(gateway: Gateway, command: Parameters<Gateway["submit"]>[0]): void {
  gateway.submit(command, NO_EVIDENCE, () => undefined);
}
