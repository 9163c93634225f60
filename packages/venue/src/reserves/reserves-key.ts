/** The key of order and salts in the trees of reserves. */
import { createHmac } from "node:crypto";
import type { LogKey } from "../receipts/log-key.js";

const KEY_LABEL = "perpgate reserves v1";

/** The key of the salts, which all gateways of a venue have: it follows from the log's. */
export interface ReservesKey {
  readonly secret: Uint8Array;
  /** The public key of the log. */
  readonly logKey: Uint8Array;
}

export function reservesKeyOf({ privateKey, publicKey }: LogKey): ReservesKey {
  const der = privateKey.export({ format: "der", type: "pkcs8" });
  return { secret: createHmac("sha256", der).update(KEY_LABEL).digest(), logKey: publicKey };
}
