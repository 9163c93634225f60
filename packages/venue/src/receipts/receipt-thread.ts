/**
 * The thread that signs receipts: takes a batch of statements from the ring, signs it, takes the next. An
 * exception ends the thread, and the venue with it.
 */
import { parentPort, workerData } from "node:worker_threads";
import { ed25519Key } from "./log-key.js";
import { signBatch } from "./receipt-batch.js";
import { type ReceiptMemory, ReceiptRing } from "./receipt-ring.js";

export interface ReceiptThreadData {
  readonly memory: ReceiptMemory;
  /** Of the receipt key. */
  readonly seed: Uint8Array;
  readonly certificate: Uint8Array;
}

const { memory, seed, certificate }: ReceiptThreadData = workerData;
const signer = { ...ed25519Key(seed), certificate };
const ring = new ReceiptRing(memory);
parentPort?.postMessage("ready");
for (;;) ring.give(signBatch(ring.take(), signer));
