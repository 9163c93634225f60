import { hexFromBytes } from "@perpgate/protocol/core";
import { SampleKey } from "@perpgate/protocol/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifyEd25519 } from "./verify-ed25519.js";

const MESSAGE = Uint8Array.of(1, 2, 3);

test.each(["with WebCrypto", "without WebCrypto"])(
  "%s: a signature; not one of other bytes, nor one with an R of small order",
  async (platform) => {
    if (platform === "without WebCrypto") {
      vi.stubGlobal("crypto", undefined);
      onTestFinished(() => {
        vi.unstubAllGlobals();
      });
    }
    const key = new SampleKey();
    const verdict = (signature: Uint8Array, message = MESSAGE) =>
      verifyEd25519(key.publicKey, message, signature);
    expect(await verdict(key.sign(MESSAGE))).toBe(true);
    expect(await verdict(key.sign(MESSAGE), Uint8Array.of(1, 2))).toBe(false);
    const evasive = key.signWithNeutralR(MESSAGE);
    expect(hexFromBytes(evasive.subarray(0, 32))).toBe(`01${"00".repeat(31)}`);
    expect(await verdict(evasive)).toBe(false);
  },
);
