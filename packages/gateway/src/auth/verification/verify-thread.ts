/**
 * A thread that checks signatures and does nothing else: takes a job from the ring, judges it at
 * once, takes the next. A fault ends it, and with it the process that relies on it.
 */

import { parentPort, workerData } from "node:worker_threads";
import { isSignatureValid } from "./signature-check.js";
import { type VerifyJob, VerifyRing } from "./verify-ring.js";

function isValid({ rawKey, signature, body }: VerifyJob): boolean {
  // Copied out of the shared memory: libsodium's binding does not read it there.
  return isSignatureValid(Buffer.from(rawKey), Buffer.from(body), Buffer.from(signature));
}

const ring = new VerifyRing(workerData);
parentPort?.postMessage("ready");
for (;;) ring.judge(isValid(ring.take()));
