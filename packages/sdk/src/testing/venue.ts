/** A real venue behind a real gateway, and clients that are closed with their test. */

import { POLL, type RunningVenue, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import {
  type ClientOptions,
  PerpgateClient,
  type Session,
  type SignInOptions,
} from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished } from "vitest";

type Changes = NonNullable<Parameters<typeof runVenue>[0]>;

/** Ahead of the clients' clock, so that a test may take minutes. */
export function startVenue(
  changes: Changes = {},
  atEnd?: Parameters<typeof runVenue>[1],
): Promise<RunningVenue> {
  return runVenue({ startMs: startAheadOfClients(), ...changes }, atEnd);
}

export function newClient(
  { url }: { readonly url: string },
  options: Partial<ClientOptions> = {},
  atEnd: (close: () => void) => void = onTestFinished,
): PerpgateClient {
  const client = new PerpgateClient({ url, ...options });
  atEnd(() => client.close());
  return client;
}

/** Waits for a condition, however busy the machine is. */
export function eventually<T>(read: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, POLL);
}

export function newAccount() {
  return privateKeyToAccount(generatePrivateKey());
}

/** A session of a new account. */
export function newSession(
  client: PerpgateClient,
  options: Partial<Omit<SignInOptions, "account" | "wallet" | "address">> = {},
): Promise<Session> {
  return client.signIn({ ...options, account: newAccount() });
}

export const BUY = {
  symbol: "BTCUSD",
  side: "long",
  type: "market",
  margin: 100,
  leverage: 5,
} as const;
export const BID = { ...BUY, type: "limit", price: 60_000 } as const;
export const ASK = { ...BID, side: "short", price: 66_000 } as const;
