/** Withdrawals: of accounts that have nothing, of accounts that pay for each, and one again and again. */
import { request } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { flood, paced, pipeline, rotating } from "../wire/patterns.js";
import { FEW, MANY, OrderMaker, times } from "./shared.js";

/** As orders: an account may send as many a second by default. */
const REQUESTS_PER_SECOND = 100;

function withdrawal(maker: OrderMaker, nonce: number): Buffer {
  const body = JSON.stringify({ chain: "ethereum", token: "USDC", amount: 1, nonce });
  const headers = { "x-service-sig": maker.signature(body) };
  return request({ path: "/v1/bridge/withdrawals", token: maker.token, headers, body });
}

/** New accounts, none of which has anything. */
const ofStrangers =
  (accounts: number, each: number): PrepareAttack =>
  async (target) => {
    const makers: OrderMaker[] = [];
    for (let i = 0; i < accounts; i++) makers.push(await OrderMaker.of(target));
    const requests = makers.map((maker) => times(each, (i) => withdrawal(maker, i + 1)));
    return flood(rotating(requests.flat()), MANY);
  };

const TABLE = `
withdrawals-without-money: Signed withdrawals of eight accounts that have nothing are verified, and the log must not take them.
withdrawals-with-money: Eight accounts withdraw a dollar again and again, each time with its fee.
withdrawals-repeated: One withdrawal and its nonce are sent again at full speed; each is answered as before.
`;

export const WITHDRAWAL_ATTACKS = attacksOf("withdrawals", TABLE, {
  "withdrawals-without-money": ofStrangers(8, 100),
  "withdrawals-with-money": ({ veterans }) => {
    const makers = veterans.map((veteran) => new OrderMaker(veteran));
    // Above those of earlier rows.
    const first = Date.now();
    const requests = times(500, (i) => makers.map((maker) => withdrawal(maker, first + i)));
    return paced(rotating(requests.flat()), makers.length * REQUESTS_PER_SECOND, MANY);
  },
  "withdrawals-repeated": ({ veterans: [veteran] }) =>
    flood(pipeline(withdrawal(new OrderMaker(veteran!), 1)), FEW),
});
