import { PerpgateClient, type SavedSession } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { failureOf, type SignedKind, VenueFailure } from "./venue-failure.js";

const URL = "http://127.0.0.1:1";
const SAVED: SavedSession = {
  version: 1,
  address: "0x0000000000000000000000000000000000000001",
  token: "t",
  expiresAt: 2_000_000_000_000,
  lastNonce: 41,
  sessionKey: {
    kind: "ed25519",
    // RFC 8032, the first test vector.
    publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    secret: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
  },
};

/** What the command line prints for a signed request with this answer. */
async function printed(status: number, code: string, kind?: SignedKind): Promise<string> {
  const body = JSON.stringify({ code, message: "So it is.", requestId: "r" });
  const fetch = async () => new Response(body, { status });
  const session = new PerpgateClient({ url: URL, fetch, retries: 0 }).restore(SAVED);
  const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 1, leverage: 1 } as const;
  const error = await session.placeOrder(order).then(
    () => undefined,
    (thrown: unknown) => failureOf(thrown, URL, kind),
  );
  if (!(error instanceof VenueFailure)) throw new TypeError(`no failure: ${String(error)}`);
  return error.text;
}

test("order, 503 stopped: may have been placed, and how to check", async () => {
  const text = await printed(503, "stopped");
  expect(text).toContain("The order may have been placed;");
  expect(text).toMatch(/perpgate orders --all --nonce \d+/);
});

test("order, 503 overloaded: refused, and nothing to check", async () => {
  expect(await printed(503, "overloaded")).not.toContain("may have been placed");
});

test("change, 503 stopped: may have been executed, and no list of orders, which would not show it", async () => {
  const text = await printed(503, "stopped", "change");
  expect(text).toMatch(/It may have been executed; repeat the command with --nonce \d+/);
  expect(text).not.toContain("perpgate orders");
});
