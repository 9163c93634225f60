/**
 * Requests as functions, next to the client class: a bundle holds only the operations that it calls,
 * and no streams.
 */

import {
  getAccount,
  getNonce,
  type Operation,
  type ParamsOf,
  type ResultOf,
} from "@perpgate/protocol/operations";
import type { Connection } from "./http/connect.js";
import type { Input } from "./http/http-client.js";
import { Nonces } from "./orders/nonces.js";
import { OrderClient, type Replayable } from "./orders/order-client.js";
import type { CallOptions } from "./retry.js";
import { SessionKeyRing } from "./session-key/key-ring.js";
import { createSessionKey, type SessionKey } from "./session-key/session-key.js";
import { type SignInFields, signIn } from "./sign-in/sign-in.js";
import type { SignerChoice } from "./sign-in/wallet.js";

/** What an operation takes: the parameters of its path, its query, its body. */
export type RequestInput<O extends Operation> = Pick<Input<O>, "params" | "query" | "body"> &
  CallOptions;

/** A session without streams: an account, its token and the key that signs. */
export interface SessionCredentials extends Connection {
  readonly address: string;
  /** Keep it like a password. */
  readonly token: string;
  readonly expiresAt: number;
  /** Signs; for `requestSigned`. */
  readonly orderClient: OrderClient;
}

/**
 * Sends one request: a public one over a connection, one about an account with the credentials of
 * `openSession`.
 *
 * @example
 * const venue = connect({ url: "http://127.0.0.1:8080" });
 * const markets = await request(venue, getMarkets);
 * console.log(markets.map(({ symbol }) => symbol));
 */
export function request<O extends Operation>(
  at: Connection | SessionCredentials,
  operation: O,
  { params, query, body, ...options }: RequestInput<O> = {},
): Promise<ResultOf<O>> {
  const given = {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  };
  const session = "token" in at ? { session: at } : {};
  return at.http.call<O>(operation, { ...given, ...session, options });
}

/**
 * Signs in: the wallet signs once, and the session key that this makes signs the orders.
 *
 * @example
 * const venue = connect({ url: "http://127.0.0.1:8080" });
 * const trader = await openSession(venue, { account: privateKeyAccount(newPrivateKey()) });
 * const { balance } = await request(trader, getAccount);
 * console.log(balance);
 */
export async function openSession(
  connection: Connection,
  options: SignerChoice & SignInFields & { readonly sessionKey?: SessionKey },
): Promise<SessionCredentials> {
  const { http, url } = connection;
  const key = options.sessionKey ?? (await createSessionKey());
  const nonce = (call: CallOptions) => http.call(getNonce, { options: call });
  const { address, token, expiresAt } = await signIn({ http, nonce }, options, options, key);
  const session = { address, token };
  const readKey = async () => (await http.call(getAccount, { session })).session.sessionKey;
  const keys = new SessionKeyRing(key, readKey);
  const orderClient = new OrderClient(new Nonces(), http.settings.rules, () => keys);
  return { http, url, address, token, expiresAt, orderClient };
}

/**
 * Signs a body with a new nonce and sends it; the same bytes are sent again if no response comes, and
 * the venue executes them at most once.
 *
 * @example
 * const venue = connect({ url: "http://127.0.0.1:8080" });
 * const trader = await openSession(venue, { account: privateKeyAccount(newPrivateKey()) });
 * const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 100, leverage: 5 };
 * const ack = await requestSigned(trader, placeOrder, order);
 * console.log(ack.status, ack.filledSize);
 */
export function requestSigned<O extends Operation>(
  session: SessionCredentials,
  operation: O,
  body: Readonly<Record<string, unknown>>,
  { params, ...options }: CallOptions & { readonly params?: ParamsOf<O> } = {},
): Promise<Replayable<ResultOf<O>>> {
  const { nonce: given, ...fields } = body;
  const textOf = (nonce: number) => JSON.stringify({ ...fields, nonce });
  const { http, orderClient } = session;
  return orderClient.submit(
    typeof given === "number" ? given : undefined,
    textOf,
    options,
    async (signed, attempt, signal) => {
      const named = params === undefined ? {} : { params };
      const call = signal === undefined ? {} : { signal };
      const input = { ...named, signed, session, options: call };
      const { value, headers } = await http.sendOnce(operation, input, attempt);
      return Object.assign(value, { replayed: headers.get("idempotent-replay") === "true" });
    },
  );
}
