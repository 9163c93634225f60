/** Requests without an answer, through two addresses of a real venue. */

import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { type FetchLike, newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";
import { PageOrderClient } from "./order-client.js";
import { PageClock } from "./venue-clock.js";

const [FIRST, SECOND] = ["http://a.test", "http://b.test"] as const;

test("settle: refused by another gateway than the first, unknown once its time is over", async () => {
  const at = await runVenue({ startMs: startAheadOfClients() });
  const account = privateKeyAccount(newPrivateKey());
  const signedIn = await new PerpgateClient({ url: at.url }).signIn({ account, saveable: true });
  /** The first gateway gives no answer to requests. */
  const fetch: FetchLike = async (address, init) => {
    if (init.method === "POST" && address.startsWith(FIRST)) throw new TypeError("fetch failed");
    return globalThis.fetch(address.replace(/^http:\/\/.\.test/, at.url), init);
  };
  const client = new PerpgateClient({ url: [FIRST, SECOND], fetch });
  onTestFinished(() => client.close());
  client.useGateway(FIRST);
  const session = client.restore(signedIn.save());
  const clock = new PageClock();
  const line = { requireLive: () => undefined };
  const orders = new PageOrderClient({ client, markets: () => [], line, clock });
  orders.unsettled.resume(session);
  await expect(orders.changeMargin(session, "BTCUSD", 5)).rejects.toMatchObject({
    code: "position_not_found",
    outcome: "unknown",
  });
  expect(await orders.unsettled.settle()).toEqual([]);
  expect(orders.unsettled.list.get()).toHaveLength(1);
  clock.note((clock.now() ?? 0) + 60_000);
  const title = "Change of the margin of BTCUSD";
  expect(await orders.unsettled.settle()).toEqual([{ title, outcome: "outcome unknown" }]);
  expect(orders.unsettled.list.get()).toEqual([]);
});
