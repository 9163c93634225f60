/**
 * The venue's own commands: ticks by the machine's clock, an ask for the time after a pause, index
 * prices that wander and sometimes crash, a change of parameters.
 */

import type { Random } from "@perpgate/protocol/random";
import { NO_EVIDENCE } from "@perpgate/venue";
import { LISTING, START_TICKS } from "../listing.js";
import type { SimulatedGateway } from "./gateway.js";

const SLOT_MS = 200;
const PAUSE_MS = 1_000;
/** Slots that an index may be ahead of the clock. */
const MOST_AHEAD = 4;

export class Operator {
  private readonly ticks: number[] = [...START_TICKS];
  /** The last slot of each market's index. */
  private readonly slots: number[] = [];
  private lastTickMs = 0;

  constructor(private readonly random: Random) {}

  /** What a process does first. */
  start(gateway: SimulatedGateway, nowMs: number): void {
    this.askTime(gateway, nowMs);
    for (const market of this.ticks.keys()) this.updateIndex(gateway, nowMs, market);
  }

  act(gateway: SimulatedGateway, nowMs: number): void {
    const random = this.random;
    if (nowMs - this.lastTickMs > PAUSE_MS) this.askTime(gateway, nowMs);
    if (random.chance(0.8)) {
      this.lastTickMs = nowMs;
      submit(gateway, { kind: "Tick", slot: Math.floor(nowMs / SLOT_MS) });
    }
    if (random.chance(0.4)) this.updateIndex(gateway, nowMs, random.below(START_TICKS.length));
    if (random.chance(0.02)) this.configure(gateway, nowMs);
  }

  private askTime(gateway: SimulatedGateway, nowMs: number): void {
    this.lastTickMs = nowMs;
    submit(gateway, { kind: "AskTime", stampMs: nowMs });
  }

  private updateIndex(gateway: SimulatedGateway, nowMs: number, market: number): void {
    const random = this.random;
    const start = START_TICKS[market] ?? START_TICKS[0];
    const move = random.chance(0.1) ? 0.12 : 0.004;
    const ticks = (this.ticks[market] ?? start) * (1 + move * (random.next() - 0.5));
    const indexTicks = Math.round(Math.min(start * 1.3, Math.max(start * 0.7, ticks)));
    this.ticks[market] = indexTicks;
    const slot = this.indexSlot(market, nowMs);
    submit(gateway, { kind: "UpdateIndex", stampMs: nowMs, market, indexTicks, slot });
  }

  /** One that has not been used, if the clock is not too far behind for that. */
  private indexSlot(market: number, nowMs: number): number {
    const now = Math.floor(nowMs / SLOT_MS);
    const next = (this.slots[market] ?? 0) + 1;
    const slot = next > now && next <= now + MOST_AHEAD ? next : now;
    this.slots[market] = slot;
    return slot;
  }

  private configure(gateway: SimulatedGateway, stampMs: number): void {
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

function submit(
  gateway: SimulatedGateway,
  command: Parameters<SimulatedGateway["submit"]>[0],
): void {
  gateway.submit(command, NO_EVIDENCE, () => undefined);
}
