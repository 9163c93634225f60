/** Orders and cancels: refused in every way, repeated, and valid at the rate that limits allow. */
import { attacksOf } from "../attack.js";
import { flood, inTurn, paced, type Source } from "../wire/patterns.js";
import { pipeline, request } from "../wire/requests.js";
import {
  attackerAccount,
  attackerAccounts,
  OrderMaker,
  WRONG_SIGNATURE,
  WRONG_TOKEN,
} from "./accounts.js";

const FEW = { connections: 4 };
const MANY = { connections: 16 };
const ORDER = '{"symbol":"BTCUSD","side":"long","type":"market","margin":2,"leverage":5,"nonce":1}';
/** Orders that each account may send a second by default. */
const ORDERS_PER_SECOND = 100;
/** Orders that are signed before the clock starts. */
const SIGNED_AHEAD = 2_000;

export const ORDER_ATTACKS = attacksOf("orders", [
  {
    name: "orders-without-token",
    shows: "Refusals of orders without a token cost the sender nothing and are all answered.",
    prepare: () => flood(pipeline(request({ path: "/v1/orders", body: ORDER })), FEW),
  },
  {
    name: "orders-wrong-token",
    shows: "Each wrong token is hashed and looked up, as many as can be pipelined.",
    prepare: () => {
      const headers = { "x-service-sig": WRONG_SIGNATURE };
      const wrong = request({ path: "/v1/orders", token: WRONG_TOKEN, headers, body: ORDER });
      return flood(pipeline(wrong), FEW);
    },
  },
  {
    name: "orders-wrong-signature",
    shows: "Failed Ed25519 checks keep the verifying threads busy.",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target));
      const wrong = Array.from({ length: 200 }, () =>
        orders.request(orders.body(), WRONG_SIGNATURE),
      );
      return flood(pipeline(...wrong), MANY);
    },
  },
  {
    name: "orders-wrong-secp256k1",
    shows: "Failed secp256k1 checks cost several times those of Ed25519.",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target, { keyKind: "secp256k1" }));
      const other = new OrderMaker(await attackerAccount(target, { keyKind: "secp256k1" }));
      const wrong = Array.from({ length: 200 }, () => {
        const signed = other.request(other.body()).toString("latin1");
        const sig = /x-service-sig: (\S+)/.exec(signed)?.[1] ?? WRONG_SIGNATURE;
        return orders.request(orders.body(), sig);
      });
      return flood(pipeline(...wrong), MANY);
    },
  },
  {
    name: "orders-too-large-margin",
    shows: "Signed orders that the engine refuses for want of money are verified and logged.",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target));
      const refused = Array.from({ length: 500 }, () =>
        orders.request(orders.body({ margin: 900_000 })),
      );
      return flood(inTurn(refused), MANY);
    },
  },
  {
    name: "orders-unknown-symbol",
    shows: "Signed orders for a market that does not exist are verified and logged.",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target));
      const refused = Array.from({ length: 500 }, () =>
        orders.request(orders.body({ symbol: "DOGEUSD" })),
      );
      return flood(inTurn(refused), MANY);
    },
  },
  {
    name: "orders-at-the-limit",
    shows: "Five accounts of one address trade at the rate that each is allowed.",
    prepare: async (target) => {
      const accounts = await attackerAccounts(target, 5);
      const orders = accounts.map((account) => new OrderMaker(account));
      const each = SIGNED_AHEAD / orders.length;
      const requests = Array.from({ length: each }, () =>
        orders.map((maker) => maker.request(maker.body())),
      ).flat();
      return paced(inTurn(requests), orders.length * ORDERS_PER_SECOND, MANY);
    },
  },
  {
    name: "orders-padded",
    shows: "Valid orders of 4 KB at the limit: what the log keeps whole is written whole.",
    prepare: async (target) => {
      const accounts = await attackerAccounts(target, 3);
      const orders = accounts.map((account) => new OrderMaker(account));
      const padded = Array.from({ length: 300 }, () =>
        orders.map((maker) => maker.request(maker.body().padEnd(4_000, " "))),
      ).flat();
      return paced(inTurn(padded), orders.length * ORDERS_PER_SECOND, MANY);
    },
  },
  {
    name: "orders-resting-and-sweeping",
    shows: "Hundreds of small resting orders are swept by one market order, again and again.",
    prepare: async (target) => {
      const [makers, taker] = await attackerAccounts(target, 2);
      const rest = new OrderMaker(makers!);
      const sweep = new OrderMaker(taker!);
      const requests = Array.from({ length: 10 }, () => [
        ...Array.from({ length: 90 }, (_, i) =>
          rest.request(
            rest.body({ side: "short", type: "limit", margin: 2, price: 65_500 + i, leverage: 10 }),
          ),
        ),
        sweep.request(sweep.body({ side: "long", margin: 200, leverage: 20 })),
        sweep.request(sweep.body({ side: "short", margin: 200, leverage: 20 })),
      ]).flat();
      return paced(inTurn(requests), ORDERS_PER_SECOND, MANY);
    },
  },
  {
    name: "orders-replayed",
    shows: "One order and its nonce are sent again at full speed; each is answered from memory.",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target));
      return flood(pipeline(orders.request(orders.body())), MANY);
    },
  },
  {
    name: "orders-nonce-conflict",
    shows: "Other bodies under a used nonce need a signature check before the 409.",
    trader: "socket",
    prepare: async (target) => {
      const orders = new OrderMaker(await attackerAccount(target));
      const conflicting = Array.from({ length: 200 }, (_, i) =>
        orders.request(orders.body({ nonce: 7, margin: 2 + i / 100 })),
      );
      return flood(pipeline(...conflicting), MANY);
    },
  },
  {
    name: "cancels-of-unknown-orders",
    shows: "Cancels of orders that do not exist are pipelined without end.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      return flood(cancels(token), FEW);
    },
  },
  {
    name: "cancel-all-flood",
    shows: "Cancel-all is a command of the log although there is nothing to cancel.",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      const all = request({ path: "/v1/orders/cancel-all", token, body: "{}" });
      return flood(pipeline(all), FEW);
    },
  },
  {
    name: "cancel-after-flood",
    shows: "Each cancel-after is a command of the log.",
    trader: "socket",
    prepare: async (target) => {
      const { token } = await attackerAccount(target);
      const body = '{"afterMs":3600000}';
      const after = request({ path: "/v1/orders/cancel-after", token, body });
      return flood(pipeline(after), FEW);
    },
  },
]);

function cancels(token: string): Source {
  let id = 1_000_000_000;
  return () =>
    Buffer.concat(
      Array.from({ length: 100 }, () =>
        request({ method: "POST", path: `/v1/orders/${id++}/cancel`, token }),
      ),
    );
}
