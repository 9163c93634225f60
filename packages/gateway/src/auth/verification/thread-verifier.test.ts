import { generateKeyPairSync, sign } from "node:crypto";
import { hexFromBytes } from "@perpgate/protocol/core";
import { expect, onTestFinished, test } from "vitest";
import { digestOf } from "../order-signature.js";
import { readSessionKey } from "../testing/proofs.js";
import { ThreadVerifier } from "./thread-verifier.js";
import { MAX_RING_BODY_BYTES, newVerifyMemory, VerifyRing } from "./verify-ring.js";

async function startVerifier(count: number): Promise<ThreadVerifier> {
  const verifier = await ThreadVerifier.start(count);
  onTestFinished(() => verifier.close());
  return verifier;
}

function newSigner() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const key = readSessionKey(hexFromBytes(raw), "sessionKey");
  return { key, sign: (body: Uint8Array) => sign(null, digestOf(body), privateKey) };
}

test.each([1, 3])(
  "%d threads: each of thousands of jobs gets its own verdict, large bodies too",
  async (threads) => {
    const verifier = await startVerifier(threads);
    const signers = Array.from({ length: 5 }, newSigner);
    const verdicts = Array.from({ length: 3_000 }, (_, i) => {
      const signer = signers[i % signers.length]!;
      // Every hundredth is too long for the ring.
      const body = Buffer.alloc(i % 100 === 0 ? MAX_RING_BODY_BYTES + 1 : 100 + (i % 50), i);
      const signature = signer.sign(body);
      const isForged = i % 7 === 0;
      if (isForged) signature[i % 64] = (signature[i % 64] ?? 0) ^ 1;
      return new Promise<boolean>((resolve, reject) => {
        verifier.verify(signer.key, body, signature, (error, isValid) => {
          if (error === null) resolve(isValid === !isForged);
          else reject(error);
        });
      });
    });
    expect((await Promise.all(verdicts)).filter((isRight) => !isRight)).toEqual([]);
  },
);

test("a job that is alone: judged before verify returns; not while others wait, nor a long body", async () => {
  const verifier = await startVerifier(1);
  const { key, sign } = newSigner();
  const judged = (bytes: number, isAlone: boolean, spoil = 0): Promise<string> => {
    const body = Buffer.alloc(bytes, 7);
    const signature = sign(body);
    signature[0] = (signature[0] ?? 0) ^ spoil;
    let hasReturned = false;
    return new Promise((resolve) => {
      const verdict = (error: Error | null, isValid: boolean): void =>
        resolve(`${error ?? isValid} ${hasReturned ? "later" : "here"}`);
      verifier.verify(key, body, signature, verdict, isAlone);
      hasReturned = true;
    });
  };
  expect(await judged(100, true)).toBe("true here");
  expect(await judged(100, true, 1)).toBe("false here");
  expect(await judged(MAX_RING_BODY_BYTES + 1, true)).toBe("true later");
  expect(await Promise.all([judged(100, false), judged(100, true)])).toEqual([
    "true later",
    "true later",
  ]);
  expect(verifier.accepted).toEqual({ thread: 2, pool: 1, inline: 2 });
});

test("a thread that ends before close: failed resolves, since its jobs would wait forever", async () => {
  const verifier = await startVerifier(1);
  const { key } = newSigner();
  // No key has five bytes: the thread cannot make one of them, and stops.
  verifier.verify(
    { ...key, raw: new Uint8Array(5) },
    new Uint8Array(10),
    new Uint8Array(64),
    () => {
      throw new Error("a verdict on a job with an invalid key");
    },
  );
  expect(await verifier.failed).toBeInstanceOf(Error);
});

test.each([
  ["from zero", 0],
  ["past 2^31", 2 ** 31 - 700],
  ["past 2^32", -700],
])("ring: a slot is not reused before its verdict was read, %s", (_, count) => {
  const memory = newVerifyMemory();
  new Int32Array(memory.control).fill(count, 0, 2);
  const [sender, checker] = [new VerifyRing(memory), new VerifyRing(memory)];
  const offer = () => sender.offer(new Uint8Array(32), new Uint8Array(64), new Uint8Array(8));
  let offered = 0;
  while (offer()) offered++;
  for (let i = 0; i < offered; i++) {
    checker.take();
    checker.judge(i % 3 === 0);
  }
  expect(offer()).toBe(false);
  for (let i = 0; i < offered; i++) expect(sender.nextVerdict(), `job ${i}`).toBe(i % 3 === 0);
  expect(sender.nextVerdict()).toBe(undefined);
  expect(offer()).toBe(true);
});
