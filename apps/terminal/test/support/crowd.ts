/**
 * Other traders, so that the page has a market to show: some quote both sides around the index, one
 * takes from them now and then. Where the venue runs its own bots, they take this one's place.
 */

import { type Market, PerpgateClient, type Session } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

export interface CrowdPlan {
  readonly symbol: string;
  /** Levels per side. */
  readonly levels: number;
  /** Ticks between two levels. */
  readonly stepTicks: number;
  /** Dollars of margin per level, at a leverage of 10. */
  readonly margin: number;
}

const LEVERAGE = 10;
const AT_ONCE = 32;

export class Crowd {
  private timers: ReturnType<typeof setTimeout>[] = [];
  private isStopped = false;

  private constructor(
    readonly client: PerpgateClient,
    private readonly maker: Session,
    private readonly taker: Session,
    readonly market: Market,
    private readonly plan: CrowdPlan,
  ) {}

  static async gather(url: string, plan: CrowdPlan): Promise<Crowd> {
    const client = new PerpgateClient({ url, pacing: false });
    const markets = await client.markets();
    const market = markets.find(({ symbol }) => symbol === plan.symbol);
    if (market === undefined) throw new Error(`${plan.symbol} is not listed`);
    const [maker, taker] = await Promise.all([trader(client), trader(client)]);
    const crowd = new Crowd(client, maker, taker, market, plan);
    await crowd.quote();
    return crowd;
  }

  /** Rests the whole plan: every level of both sides. */
  async quote(): Promise<void> {
    const { levels, stepTicks } = this.plan;
    const { mark } = await this.client.ticker(this.plan.symbol);
    const middle = Math.round((mark ?? 0) / this.market.tickSize);
    const orders = Array.from({ length: levels }, (_, level) => level + 1).flatMap((level) => [
      this.rest("long", middle - level * stepTicks),
      this.rest("short", middle + level * stepTicks),
    ]);
    for (let from = 0; from < orders.length; from += AT_ONCE) {
      await Promise.all(orders.slice(from, from + AT_ONCE).map((order) => order()));
    }
  }

  /** Takes a little, from both sides in turn. */
  async trade(side: "long" | "short", margin = 20): Promise<void> {
    await this.taker.stream.placeOrder({
      symbol: this.plan.symbol,
      side,
      type: "market",
      margin,
      leverage: LEVERAGE,
    });
  }

  /** Trades and quotes anew, again and again, until it is stopped. */
  keepBusy(everyMs: number): void {
    let round = 0;
    const next = () => {
      if (this.isStopped) return;
      round++;
      const side = round % 2 === 0 ? "long" : "short";
      const steps = [this.trade(side), this.requote(round)];
      // A crowd that is refused now and then is still a crowd.
      void Promise.allSettled(steps).then(() => this.timers.push(setTimeout(next, everyMs)));
    };
    next();
  }

  stop(): void {
    this.isStopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.client.close();
  }

  private async requote(round: number): Promise<void> {
    const { mark } = await this.client.ticker(this.plan.symbol);
    const middle = Math.round((mark ?? 0) / this.market.tickSize);
    const level = 1 + (round % 7);
    const ticks = level * this.plan.stepTicks;
    const side = round % 2 === 0 ? "long" : "short";
    const { orderId } = await this.rest(side, middle + (side === "long" ? -ticks : ticks))();
    await this.maker.stream.cancelOrder(orderId);
  }

  private rest(side: "long" | "short", ticks: number) {
    const digits = Math.max(0, Math.ceil(-Math.log10(this.market.tickSize)));
    return () =>
      this.maker.stream.placeOrder({
        symbol: this.plan.symbol,
        side,
        type: "limit",
        margin: this.plan.margin,
        leverage: LEVERAGE,
        price: Number((ticks * this.market.tickSize).toFixed(digits)),
      });
  }
}

/** A new account with enough to trade. */
async function trader(client: PerpgateClient): Promise<Session> {
  const account = privateKeyToAccount(generatePrivateKey());
  const session = await client.signIn({ account });
  const hashes = Array.from({ length: 5 }, () => generatePrivateKey());
  await Promise.all(
    hashes.map((txHash) => session.deposit({ chain: "arbitrum", txHash, token: "USDC" })),
  );
  while ((await session.account()).balance < 60_000) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return session;
}
