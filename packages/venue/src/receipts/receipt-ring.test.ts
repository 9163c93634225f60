import { expect, test } from "vitest";
import { newReceiptMemory, ReceiptRing } from "./receipt-ring.js";

function rings() {
  const memory = newReceiptMemory();
  return { issuer: new ReceiptRing(memory), signer: new ReceiptRing(memory) };
}

const write = (ring: ReceiptRing, byte: number): void => void ring.nextStatement()!.fill(byte);

test("takeOnly: the only statement, while no other waits; the signer never sees it", () => {
  const { issuer, signer } = rings();
  write(issuer, 1);
  expect(issuer.takeOnly()?.[0]).toBe(1);
  expect(issuer.takeOnly()).toBeUndefined();
  for (const byte of [2, 3]) write(issuer, byte);
  expect(issuer.takeOnly()).toBeUndefined();
  issuer.endBatch();
  write(issuer, 4);
  expect(issuer.takeOnly()).toBeUndefined();
  issuer.endBatch();
  expect(signer.take().map(([byte]) => byte)).toEqual([2, 3, 4]);
  signer.give(["two", "three", "four"]);
  write(issuer, 5);
  // Signed, and not read yet: its slots are in use.
  expect(issuer.takeOnly()).toBeUndefined();
  issuer.endBatch();
  expect(Array.from({ length: 4 }, () => issuer.nextReceipt())).toEqual([
    "two",
    "three",
    "four",
    undefined,
  ]);
  expect(signer.take().map(([byte]) => byte)).toEqual([5]);
});
