/**
 * A thread that checks signatures and does nothing else: takes a job from the ring, judges it at
 * once, takes the next. A fault ends it, and with it the process that relies on it.
 */

import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { type VerifyJob, VerifyRing } from "./verify-ring.js";

/** DER of a public key up to its raw bytes. */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const SECP256K1_PREFIX = Buffer.from("3036301006072a8648ce3d020106052b8104000a032200", "hex");
const ED25519_KEY_BYTES = 32;
/** Beyond it all are dropped and made again as they are needed. */
const KEPT_KEYS = 50_000;

const keys = new Map<string, KeyObject>();

/** The key's raw bytes name it: no other key can stand under them. */
function keyOf(rawKey: Buffer): KeyObject {
  const name = rawKey.toString("latin1");
  const known = keys.get(name);
  if (known !== undefined) return known;
  const prefix = rawKey.length === ED25519_KEY_BYTES ? ED25519_PREFIX : SECP256K1_PREFIX;
  const key = createPublicKey({
    key: Buffer.concat([prefix, rawKey]),
    format: "der",
    type: "spki",
  });
  if (keys.size >= KEPT_KEYS) keys.clear();
  keys.set(name, key);
  return key;
}

function isValid({ rawKey, signature, body }: VerifyJob): boolean {
  const key = keyOf(rawKey);
  if (rawKey.length !== ED25519_KEY_BYTES) {
    return verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, signature);
  }
  return (
    verify(null, hash("sha256", body, "buffer"), key, signature) ||
    verify(null, body, key, signature)
  );
}

const ring = new VerifyRing(workerData);
parentPort?.postMessage("ready");
for (;;) ring.judge(isValid(ring.take()));
