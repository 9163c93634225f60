import { ERROR_TABLE, type ErrorCode } from "@perpgate/protocol";
import { createSessionKey, type FetchLike, PerpgateClient } from "@perpgate/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { Output } from "../cli/output.js";
import { cancelEach } from "./cancel.js";
import { cancelExits } from "./order.js";

/** A session whose cancels are answered by the order's id. */
async function sessionWith(answers: Readonly<Record<string, ErrorCode | "canceled">>) {
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
  return { session, asked };
}

test("exits of an order that was not taken: all are canceled, and those that may still wait named", async () => {
  const { session, asked } = await sessionWith({
    11: "invalid_token",
    12: "canceled",
    13: "order_not_found",
    14: "order_not_cancelable",
    15: "rate_limited",
  });
  const remarks = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => remarks.mockRestore());
  const ids = ["11", "12", "13", "14", "15", "16"];
  await expect(cancelExits({ session, output: new Output(false) }, ids)).rejects.toThrow(
    /^the order was not taken, and its exits may still wait \(.+\): perpgate cancel 11 15 16$/,
  );
  expect(new Set(asked)).toEqual(new Set(ids));
  expect(remarks.mock.calls).toEqual([["canceled the exit 12, since the order was not taken\n"]]);
});

test("cancel of several, one no longer open: the others are canceled, and the command fails", async () => {
  const { session } = await sessionWith({ 11: "order_not_cancelable", 12: "canceled" });
  const lines = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => lines.mockRestore());
  const canceling = cancelEach({ session, output: new Output(false) }, ["11", "12"]);
  await expect(canceling).rejects.toMatchObject({ code: "order_not_cancelable" });
  expect(lines.mock.calls).toEqual([["canceled 12, 1 was open\n"]]);
});
