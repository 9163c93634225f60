/**
 * Keeps an account at the capital that its bot works with: reads the balance and deposits what is
 * missing through the dev attestor, slower than the limit on deposits.
 */

import { randomBytes } from "node:crypto";
import { TokenBucket } from "@perpgate/protocol/core";
import type { Session } from "@perpgate/sdk";

/** What the dev attestor credits for a deposit. */
const CREDIT = 10_000;
/** Below the limit of ten a minute. */
const DEPOSITS = { perSecond: 8 / 60, burst: 8 };
/** The part of its capital that a bot keeps available. */
const FREE_PART = 0.1;
/** No deposits above this multiple of the capital, however much margin positions use. */
const MAX_CAPITALS = 10;

export class BotFunds {
  private readonly deposits = new TokenBucket(DEPOSITS);
  private isShort = false;

  /** `capital`: dollars that its bot works with; may rise. */
  constructor(public capital: number) {}

  /** The venue refused an order because of its margin. */
  noteShort(): void {
    this.isShort = true;
  }

  /** Returns whether the account may open positions and whether it has its capital. */
  async check(
    session: Session,
    nowMs: number,
  ): Promise<{ readonly isInCohort: boolean; readonly isFunded: boolean }> {
    const { equity, available, cohort } = await session.account();
    const missing = this.missing(equity, available);
    this.isShort = false;
    for (let credited = 0; credited < missing && this.deposits.take(nowMs); credited += CREDIT) {
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
    const needsMore = this.isShort || available < this.capital * FREE_PART;
    return needsMore && equity < this.capital * MAX_CAPITALS ? CREDIT : 0;
  }
}
