import type { SessionKeyBytes } from "@perpgate/protocol";
import { bytesFromHex } from "@perpgate/protocol/core";
import { hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { readSiweMessage } from "../siwe-message.js";
import { siweText } from "../testing/siwe-text.js";
import { MAX_WAITING_PROOFS, ProofThread } from "./proof-thread.js";

const WALLET = privateKeyToAccount(`0x${"11".repeat(32)}`);
const SMALL_ORDER: SessionKeyBytes = {
  kind: "ed25519",
  bytes: bytesFromHex(`01${"00".repeat(31)}`) ?? new Uint8Array(0),
};

async function startThread(rpc = new Map<number, string>()): Promise<ProofThread> {
  const thread = await ProofThread.start(rpc);
  onTestFinished(() => thread.close());
  return thread;
}

function messageWith(uri: string) {
  return readSiweMessage(
    siweText({
      domain: "localhost",
      address: WALLET.address,
      uri,
      version: "1",
      chainId: 1,
      nonce: "nonce1234",
      issuedAt: "2026-06-01T11:59:00Z",
    }),
  );
}

test("prove: each job gets its own answer, as the calling thread would give it", async () => {
  const thread = await startThread();
  const message = messageWith("http://localhost");
  const signature = hexToBytes(await WALLET.signMessage({ message: message.text }));
  const answers = await Promise.all([
    thread.prove({ kind: "message", message, signature }),
    thread.prove({ kind: "key", key: SMALL_ORDER }),
    thread.prove({ kind: "message", message: messageWith("http://[::1/"), signature }),
    thread.prove({ kind: "message", message, signature: new Uint8Array(65) }),
  ]);
  expect(answers).toMatchObject([
    { kind: "signer", signer: WALLET.address.toLowerCase() },
    { kind: "key", problem: "The session key is an Ed25519 point of small order" },
    { kind: "message", fault: { line: 5 } },
    { kind: "signer", signer: undefined },
  ]);
});

test("prove: an RPC that does not answer is reported as such and ends no thread", async () => {
  const thread = await startThread(new Map([[1, "http://127.0.0.1:1"]]));
  expect([thread.servesChain(1), thread.servesChain(2)]).toEqual([true, false]);
  const claim = { chainId: 1, address: WALLET.address, hash: "0x00", signature: "0x00" } as const;
  expect(await thread.prove({ kind: "contract", claim })).toEqual({
    kind: "unavailable",
    reason: "the RPC of chain 1 does not answer",
  });
});

test("prove: beyond the jobs that may wait, overloaded", async () => {
  const thread = await startThread();
  const jobs = Array.from({ length: MAX_WAITING_PROOFS }, () =>
    thread.prove({ kind: "key", key: SMALL_ORDER }),
  );
  await expect(thread.prove({ kind: "key", key: SMALL_ORDER })).rejects.toMatchObject({
    code: "overloaded",
    status: 503,
  });
  await Promise.all(jobs);
  await thread.prove({ kind: "key", key: SMALL_ORDER });
});

test("close: later jobs are refused as stopped, and the end is no failure", async () => {
  const thread = await startThread();
  await thread.close();
  await expect(thread.prove({ kind: "key", key: SMALL_ORDER })).rejects.toMatchObject({
    code: "stopped",
  });
  expect(await Promise.race([thread.failed, Promise.resolve("none")])).toBe("none");
});
