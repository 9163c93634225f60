/** Orders and cancels: refused in every way, repeated, and valid at the rate that limits allow. */
import { signIn, signInMany } from "../../harness/http.js";
import { request } from "../../harness/wire.js";
import { attacksOf, type PrepareAttack } from "../attack.js";
import { flood, paced, pipeline, rotating } from "../wire/patterns.js";
import { FEW, MANY, ORDER, OrderMaker, times, WRONG_SIGNATURE, WRONG_TOKEN } from "./shared.js";

/** Orders a second that an account may send by default. */
const ORDERS_PER_SECOND = 100;

/** Rightly signed orders that the engine refuses. */
function refusedByEngine(fields: Readonly<Record<string, unknown>>): PrepareAttack {
  return async (target) => {
    const maker = await OrderMaker.of(target);
    return flood(rotating(times(500, () => maker.request(maker.body(fields)))), MANY);
  };
}

/** Valid orders of several accounts, each at its limit. */
function atTheLimit(accounts: number, each: number, padTo = 0): PrepareAttack {
  return async ({ address }) => {
    const makers = (await signInMany(address, accounts)).map((account) => new OrderMaker(account));
    const requests = times(each, () =>
      makers.map((maker) => maker.request(maker.body().padEnd(padTo, " "))),
    );
    return paced(rotating(requests.flat()), accounts * ORDERS_PER_SECOND, MANY);
  };
}

/** One request over and over with the token of a new account. */
function repeatedly(path: string, body: string): PrepareAttack {
  return async ({ address }) => {
    const { token } = await signIn(address);
    return flood(pipeline(request({ path, token, body })), FEW);
  };
}

const TABLE = `
orders-without-token: Refusals of orders without a token cost the sender nothing and are all answered.
orders-wrong-token: Each wrong token is hashed and looked up, as many as can be pipelined.
orders-wrong-signature: Failed Ed25519 checks keep the event loop busy.
orders-wrong-secp256k1: Failed secp256k1 checks cost several times those of Ed25519.
orders-wrong-secp256k1-accounts: Eight accounts send wrong signatures of secp256k1 at a rate that limits allow.
orders-too-large-margin: Signed orders that the engine refuses for want of money are verified and logged.
orders-unknown-symbol: Signed orders for a market that does not exist are verified and logged.
orders-at-the-limit: Five accounts of one address trade at the rate that each is allowed.
orders-padded: Valid orders of 4 KB at the limit: what the log keeps whole is written whole.
orders-resting-and-sweeping: Hundreds of small resting orders are swept by one market order, again and again.
orders-replayed: One order and its nonce are sent again at full speed; each is answered from memory.
orders-nonce-conflict*: Other bodies under a used nonce need a signature check before the 409.
cancels-of-unknown-orders: Cancels of orders that do not exist are pipelined without end.
batches-of-impossible-ids: Signed batches cancel ids that no log reaches; the log must not take them.
cancel-all-flood: Cancel-all is a command of the log although there is nothing to cancel.
cancel-after-flood*: Each cancel-after is a command of the log.
`;

export const ORDER_ATTACKS = attacksOf("orders", TABLE, {
  "orders-without-token": () => flood(pipeline(request({ path: "/v1/orders", body: ORDER })), FEW),
  "orders-wrong-token": () => {
    const headers = { "x-service-sig": WRONG_SIGNATURE };
    const wrong = request({ path: "/v1/orders", token: WRONG_TOKEN, headers, body: ORDER });
    return flood(pipeline(wrong), FEW);
  },
  "orders-wrong-signature": async (target) => {
    const maker = await OrderMaker.of(target);
    return flood(pipeline(...times(200, () => maker.request(maker.body(), WRONG_SIGNATURE))), MANY);
  },
  "orders-wrong-secp256k1": async (target) => {
    const maker = await OrderMaker.of(target, { keyKind: "secp256k1" });
    const other = await OrderMaker.of(target, { keyKind: "secp256k1" });
    const wrong = times(200, () => maker.request(maker.body(), other.signature(other.body())));
    return flood(pipeline(...wrong), MANY);
  },
  "orders-wrong-secp256k1-accounts": async (target) => {
    const makers: OrderMaker[] = [];
    for (let i = 0; i < 8; i++) makers.push(await OrderMaker.of(target, { keyKind: "secp256k1" }));
    const wrong = times(100, () =>
      makers.map((each) => each.request(each.body(), WRONG_SIGNATURE)),
    );
    return paced(rotating(wrong.flat()), makers.length * 90, MANY);
  },
  "orders-too-large-margin": refusedByEngine({ margin: 900_000 }),
  "orders-unknown-symbol": refusedByEngine({ symbol: "DOGEUSD" }),
  "orders-at-the-limit": atTheLimit(5, 400),
  "orders-padded": atTheLimit(3, 300, 4_000),
  "orders-resting-and-sweeping": async (target) => {
    const [rest, sweep] = [await OrderMaker.of(target), await OrderMaker.of(target)];
    const resting = { side: "short", type: "limit", margin: 2, leverage: 10 };
    const sweeping = { margin: 200, leverage: 20 };
    const requests = times(10, () => [
      ...times(90, (i) => rest.request(rest.body({ ...resting, price: 65_500 + i }))),
      sweep.request(sweep.body({ ...sweeping, side: "long" })),
      sweep.request(sweep.body({ ...sweeping, side: "short" })),
    ]);
    return paced(rotating(requests.flat()), ORDERS_PER_SECOND, MANY);
  },
  "orders-replayed": async (target) => {
    const maker = await OrderMaker.of(target);
    return flood(pipeline(maker.request(maker.body())), MANY);
  },
  "orders-nonce-conflict": async (target) => {
    const maker = await OrderMaker.of(target);
    const conflicting = times(200, (i) =>
      maker.request(maker.body({ nonce: 7, margin: 2 + i / 100 })),
    );
    return flood(pipeline(...conflicting), MANY);
  },
  "cancels-of-unknown-orders": async ({ address }) => {
    const { token } = await signIn(address);
    let id = 1_000_000_000;
    const cancel = (): Buffer =>
      request({ method: "POST", path: `/v1/orders/${id++}/cancel`, token });
    return flood(() => Buffer.concat(times(100, cancel)), FEW);
  },
  "batches-of-impossible-ids": async (target) => {
    const maker = await OrderMaker.of(target);
    const batch = (i: number): Buffer => {
      const operations = [{ op: "cancel", orderId: String(2 ** 53 + 2 * i) }];
      const body = JSON.stringify({ nonce: i + 1, operations });
      const headers = { "x-service-sig": maker.signature(body) };
      return request({ path: "/v1/orders/batch", token: maker.token, headers, body });
    };
    return flood(rotating(times(500, batch)), FEW);
  },
  "cancel-all-flood": repeatedly("/v1/orders/cancel-all", "{}"),
  "cancel-after-flood": repeatedly("/v1/orders/cancel-after", '{"afterMs":3600000}'),
});
