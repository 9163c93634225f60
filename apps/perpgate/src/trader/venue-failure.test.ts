import { ERROR_TABLE } from "@perpgate/protocol";
import { PerpgateClient, type SavedSession } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { hintFor } from "./hint.js";
import { failureOf, VenueFailure, withoutPaths } from "./venue-failure.js";

const URL = "http://127.0.0.1:1";
const CONTEXT = { url: URL, hint: hintFor("bot", URL) };
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
async function printed(status: number, code: string, settle = ""): Promise<string> {
  const body = JSON.stringify({ code, message: "So it is.", requestId: "r" });
  const fetch = async () => new Response(body, { status });
  const session = new PerpgateClient({ url: URL, fetch, retries: 0 }).restore(SAVED);
  const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 1, leverage: 1 } as const;
  const error = await session.placeOrder(order).then(
    () => undefined,
    (thrown: unknown) => failureOf(thrown, { ...CONTEXT, settle }),
  );
  if (!(error instanceof VenueFailure)) throw new TypeError(`no failure: ${String(error)}`);
  return error.text;
}

test("order, 503 stopped: may have been executed, and how to learn it", async () => {
  const text = await printed(503, "stopped", "ask: perpgate orders");
  expect(text).toContain("\n  It may have been executed; ask: perpgate orders.\n");
});

test("order, 503 overloaded: refused, and nothing to ask", async () => {
  const text = await printed(503, "overloaded", "ask: perpgate orders");
  expect(text).not.toContain("may have been executed");
});

test("advice: its command has the profile and the address of the call", async () => {
  expect(await printed(401, "invalid_token")).toContain(
    "Sign in again: perpgate login --profile bot --url http://127.0.0.1:1\n",
  );
});

test("hint: an address that a shell would read otherwise is quoted", () => {
  const hint = hintFor("default", "http://x/a;b 'c'");
  expect(hint("orders")).toBe("perpgate orders --url 'http://x/a;b '\\''c'\\'''");
});

test("messages of the venue: none names a path of its API", () => {
  for (const [code, { message }] of Object.entries(ERROR_TABLE)) {
    expect(withoutPaths(message), code).not.toMatch(/\/v1\/|openapi/i);
  }
  expect(withoutPaths("No market BTC; GET /v1/markets lists them.")).toBe("No market BTC.");
  expect(withoutPaths("size is too long. See GET /v1/openapi.json for the shape.")).toBe(
    "size is too long.",
  );
});
