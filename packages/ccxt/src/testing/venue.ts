/** A live venue behind a real gateway, an exchange of a new account, and a maker on the other side. */

import { type RunningVenue, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount, type Session } from "@perpgate/sdk";
import { afterAll } from "vitest";
import { Perpgate } from "../perpgate.js";

export const SYMBOL = "BTC/USD:USD";

export interface Live {
  readonly venue: RunningVenue;
  readonly maker: Session;
  newExchange(config?: object): Perpgate;
}

/** For the tests of a file; closed after them. */
export async function live(): Promise<Live> {
  const venue = await runVenue({ startMs: startAheadOfClients() }, afterAll);
  const client = new PerpgateClient({ url: venue.url });
  afterAll(() => client.close());
  const maker = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  const exchanges: Perpgate[] = [];
  // A hook that a test registers while it runs is never called.
  afterAll(() => Promise.all(exchanges.map((exchange) => exchange.close())));
  const newExchange = (config: object = {}): Perpgate => {
    const exchange = new Perpgate({
      privateKey: newPrivateKey(),
      urls: { api: venue.url },
      enableRateLimit: false,
      ...config,
    });
    exchanges.push(exchange);
    return exchange;
  };
  return { venue, maker, newExchange };
}

/** Bids and asks of the maker around 65,000. */
export async function quote(maker: Session): Promise<void> {
  const terms = { symbol: "BTCUSD", type: "limit", size: 0.4, leverage: 10 } as const;
  await maker.placeOrder({ ...terms, side: "long", price: 64_900 });
  await maker.placeOrder({ ...terms, side: "short", price: 65_100 });
}
