/**
 * An account's money: asks how much there is and, while it is less than the bot works with, has the
 * dev attestor credit some more, slower than the limit on deposits.
 */

import { randomBytes } from "node:crypto";
import type { Session } from "@perpgate/sdk";
import { Pace } from "../pace.js";

/** What the dev attestor credits for a deposit. */
const CREDIT = 10_000;
/** Below the limit of ten a minute. */
const DEPOSITS = { perSecond: 8 / 60, burst: 8 };
/** Of its capital, what a bot wants to have free. */
const FREE_PART = 0.1;
/** However much is bound in positions, it is not given more than this many times its capital. */
const MOST = 10;

export class Purse {
  private readonly pace = new Pace(DEPOSITS.perSecond, DEPOSITS.burst);
  private isShort = false;

  constructor(private readonly capital: number) {}

  /** The venue refused an order for lack of money. */
  noteShort(): void {
    this.isShort = true;
  }

  /** Answers whether the account may open positions, and whether it has what it works with. */
  async look(
    session: Session,
    nowMs: number,
  ): Promise<{ readonly isInCohort: boolean; readonly isFunded: boolean }> {
    const { equity, available, cohort } = await session.account();
    const missing = this.missing(equity, available);
    this.isShort = false;
    for (let credited = 0; credited < missing && this.pace.take(nowMs); credited += CREDIT) {
      await session.deposit({
        chain: "ethereum",
        token: "USDC",
        txHash: `0x${randomBytes(32).toString("hex")}`,
      });
    }
    return { isInCohort: cohort, isFunded: missing === 0 };
  }

  private missing(equity: number, available: number): number {
    if (equity < this.capital) return this.capital - equity;
    const isBound = this.isShort || available < this.capital * FREE_PART;
    return isBound && equity < this.capital * MOST ? CREDIT : 0;
  }
}
