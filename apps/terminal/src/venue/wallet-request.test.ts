import { expect, test, vi } from "vitest";
import { endingWith, WalletCanceled, WalletSilent } from "./wallet-request.js";

const SILENT = { request: () => new Promise<unknown>(() => undefined) };
const CALL = { method: "eth_requestAccounts" };

test("a wallet that answers: its answer, and its refusal", async () => {
  const { signal } = new AbortController();
  const willing = endingWith({ request: async () => ["0x1"] }, signal);
  expect(await willing.request(CALL)).toEqual(["0x1"]);
  const refusing = endingWith({ request: () => Promise.reject(new Error("no")) }, signal);
  await expect(refusing.request(CALL)).rejects.toThrow("no");
});

test("a wallet that never answers: ends when canceled, or after the time", async () => {
  const controller = new AbortController();
  const waiting = endingWith(SILENT, controller.signal).request(CALL);
  controller.abort();
  await expect(waiting).rejects.toThrow(WalletCanceled);
  await expect(endingWith(SILENT, controller.signal).request(CALL)).rejects.toThrow(WalletCanceled);
  vi.useFakeTimers();
  try {
    const late = endingWith(SILENT, new AbortController().signal, 1_000).request(CALL);
    const refused = expect(late).rejects.toThrow(WalletSilent);
    vi.advanceTimersByTime(1_000);
    await refused;
  } finally {
    vi.useRealTimers();
  }
});
