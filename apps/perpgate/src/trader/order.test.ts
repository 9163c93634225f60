import { ERROR_TABLE, type ErrorCode } from "@perpgate/protocol";
import {
  createSessionKey,
  type FetchLike,
  PerpgateClient,
  type PreconfirmAck,
} from "@perpgate/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { Output } from "../cli/output.js";
import { StartError } from "../cli/start-error.js";
import { cancelEach } from "./cancel.js";
import { hintFor } from "./hint.js";
import { showResults } from "./order-text.js";
import { Sender } from "./sender.js";

/** A session whose cancels are answered by the order's id. */
async function venueWith(answers: Readonly<Record<string, ErrorCode | "canceled">>) {
  const asked: string[] = [];
  const fetch: FetchLike = async (url) => {
    const orderId = url.split("/").at(-2) ?? "";
    asked.push(orderId);
    const code = answers[orderId];
    if (code === undefined) throw new TypeError("fetch failed");
    if (code === "canceled") {
      return new Response(JSON.stringify({ orderId, status: "canceled", remainingSize: 1 }));
    }
    const body = { code, message: "so it is", requestId: "r" };
    return new Response(JSON.stringify(body), { status: ERROR_TABLE[code].status });
  };
  const client = new PerpgateClient({ url: "http://127.0.0.1:1", fetch, retries: 0, budgetMs: 1 });
  onTestFinished(() => client.close());
  const { kind, publicKey, secret = "" } = await createSessionKey({ saveable: true });
  const session = client.restore({
    ...{ version: 1, address: `0x${"ab".repeat(20)}`, token: "t", expiresAt: 1e15, lastNonce: 0 },
    sessionKey: { kind, publicKey, secret },
  });
  const output = new Output(false);
  const hint = hintFor("default", undefined);
  const sender = new Sender({ url: "http://127.0.0.1:1", hint, output });
  onTestFinished(() => sender.end());
  return { venue: { session, output, hint, sender }, asked };
}

test("cancel of several, one no longer open: the others are canceled, and the command fails", async () => {
  const { venue } = await venueWith({ 11: "order_not_cancelable", 12: "canceled" });
  const lines = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => lines.mockRestore());
  const canceling = cancelEach(venue, ["11", "12"]);
  await expect(canceling).rejects.toMatchObject({ code: "order_not_cancelable" });
  expect(lines.mock.calls).toEqual([["canceled 12, 1 was open\n"]]);
});

test("control characters in an acknowledgement or a refusal: replaced", async () => {
  const lines = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => lines.mockRestore());
  const evil = "\u001b]0;paid\u0007";
  const format = { base: "BTC", price: String, size: String };
  const ack: PreconfirmAck = {
    ...{ ackNonce: "42", orderId: "42", symbol: `BTCUSD${evil}`, side: "long", nonce: 1 },
    ...{ status: "canceled", filledSize: 0, remainingSize: 0.5, avgFillPrice: 0, feePaid: 0 },
    positionAfter: { size: 0, avgEntry: 0, unrealizedPnl: 0 },
    ...{ expectedBlock: 7, reason: `no_${evil}`, clientOrderId: null, time: 1, elapsedMs: 1 },
  };
  const error = { code: "unknown_symbol", message: `no market ${evil}`, requestId: "r" };
  const results = [
    { status: 200, ack },
    { status: 400, error },
  ];
  showResults(
    { output: new Output(false) },
    ["limit", "stop-loss"],
    { results, replayed: false },
    format,
  );
  const printed = lines.mock.calls.map(([text]) => String(text));
  expect(printed).toEqual([
    "canceled  0.5 BTC was not filled: no \ufffd]0;paid\ufffd (BTCUSD\ufffd]0;paid\ufffd, limit)\n",
    expect.stringContaining("no market \ufffd]0;paid\ufffd (stop-loss)\n"),
  ]);
  expect(new StartError(`no market; there are ${evil}`).text).toBe(
    "perpgate: no market; there are \ufffd]0;paid\ufffd\n",
  );
});
