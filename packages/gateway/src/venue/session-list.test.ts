import { verify } from "@perpgate/venue";
import { afterAll, expect, test } from "vitest";
import { recoverWallet } from "./testing/recover-wallet.js";
import { runVenue, START_MS } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const at = await runVenue({}, afterAll);

function idOf({ token }: Trader): string {
  return token.split(".")[1] ?? "";
}

test("list: the account's own, oldest first, each with its key, origin and scope", async () => {
  const first = await Trader.enter(at);
  const second = await first.again();
  await Trader.enter(at);
  const list = await second.list("/v1/auth/sessions");
  expect(list).toMatchObject([
    { id: idOf(first), sessionKey: first.sessionKey.publicHex, current: false },
    {
      id: idOf(second),
      sessionKey: second.sessionKey.publicHex,
      kind: "ed25519",
      domain: "localhost",
      expiresAt: second.expiresAt,
      cancelOnDisconnect: false,
      current: true,
      scope: { maxOrderNotional: null, maxNotional: null, symbols: null },
    },
  ]);
  expect(list[1]?.issuedAt).toBeGreaterThanOrEqual(START_MS);
});

test("end another: only with the session key's signature over method and path", async () => {
  const own = await Trader.enter(at);
  const other = await own.again();
  const path = `/v1/auth/sessions/${idOf(other)}`;
  const unsigned = await own.delete(path, "none");
  expect([unsigned.status, unsigned.body.code]).toEqual([401, "signature_required"]);
  expect(unsigned.body.details).toEqual({ signs: `DELETE ${path}` });
  const { "x-service-sig": header = "" } = own.signatureOf("DELETE /v1/auth/sessions");
  const wrong = await own.delete(path, { header });
  expect([wrong.status, wrong.body.code]).toEqual([401, "invalid_signature"]);
  expect((await other.get("/v1/account")).status).toBe(200);
  const ended = await own.delete(path, "body");
  expect(ended.status, ended.text).toBe(200);
  expect(ended.body.endedAt).toBeGreaterThanOrEqual(START_MS);
  expect((await other.get("/v1/account")).body.code).toBe("invalid_token");
  const twice = await own.delete(path);
  expect([twice.status, twice.body.code]).toEqual([404, "session_not_found"]);
});

test("end by id: the own session without a signature; another account's is not there", async () => {
  const own = await Trader.enter(at);
  const stranger = await Trader.enter(at);
  const foreign = await own.delete(`/v1/auth/sessions/${idOf(stranger)}`);
  expect([foreign.status, foreign.body.code]).toEqual([404, "session_not_found"]);
  expect((await stranger.get("/v1/account")).status).toBe(200);
  expect((await own.delete(`/v1/auth/sessions/${idOf(own)}`, "none")).status).toBe(200);
  expect((await own.get("/v1/account")).body.code).toBe("invalid_token");
});

test("end all others: the own one and other accounts' stay", async () => {
  const own = await Trader.enter(at);
  const others = [await own.again(), await own.again()];
  const stranger = await Trader.enter(at);
  expect((await own.delete("/v1/auth/sessions", "none")).body.code).toBe("signature_required");
  const { status, body, text } = await own.delete("/v1/auth/sessions");
  expect(status, text).toBe(200);
  expect(body.ended).toEqual(others.map(idOf));
  for (const other of others) {
    expect((await other.get("/v1/account")).body.code).toBe("invalid_token");
  }
  expect((await own.get("/v1/account")).status).toBe(200);
  expect((await stranger.get("/v1/account")).status).toBe(200);
  expect((await own.delete("/v1/auth/sessions")).body.ended).toEqual([]);
});

test("token: another session's position, or none, is invalid", async () => {
  const own = await Trader.enter(at);
  const other = await own.again();
  const [secret = ""] = own.token.split(".");
  for (const token of [secret, `${secret}.${idOf(other)}`, `${secret}.0`, `${own.token}1`]) {
    own.token = token;
    expect((await own.get("/v1/account")).body.code).toBe("invalid_token");
  }
});

test("verify --signatures: checks who ended whose sessions", async () => {
  await at.stop();
  const { fault } = await verify(at.directory, { signatures: recoverWallet });
  expect(fault).toBeNull();
});
