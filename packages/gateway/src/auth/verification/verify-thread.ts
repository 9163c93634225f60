/**
 * A thread that checks signatures: takes a job from the ring, judges it, takes the next. An exception
 * ends the thread, and the process with it.
 */

import { parentPort, workerData } from "node:worker_threads";
import { SignatureCheck } from "./signature-check.js";
import { type VerifyJob, VerifyRing } from "./verify-ring.js";

const check = new SignatureCheck();

function isValid({ rawKey, signature, body }: VerifyJob): boolean {
  // Copied out of the shared memory: libsodium's binding does not read it there.
  return check.isValid(Buffer.from(rawKey), Buffer.from(body), Buffer.from(signature));
}

const ring = new VerifyRing(workerData);
parentPort?.postMessage("ready");
for (;;) ring.judge(isValid(ring.take()));
