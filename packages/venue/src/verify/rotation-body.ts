/** The body of a rotation, which names the new session key. */
import type { RotateSession } from "@perpgate/engine";
import {
  compressedKey,
  LOCAL_BOUNDS,
  parseSessionKey,
  parseStrictJson,
} from "@perpgate/protocol/core";
import type { Evidence } from "../record/record.js";
import { fingerprintOf } from "./key-signature.js";

/** The fingerprint of a session key in hex, or undefined if it is none. */
function fingerprintOfHex(text: string): string | undefined {
  const key = parseSessionKey(text);
  return key === undefined ? undefined : fingerprintOf(compressedKey(key));
}

/** The rotation's body must name the key that the command installs. */
export function rotationFault({ newKey }: RotateSession, { signed }: Evidence): string | null {
  try {
    const body = parseStrictJson(Buffer.from(signed).toString("utf8"), LOCAL_BOUNDS);
    if (typeof body === "object" && body !== null && "newSessionKey" in body) {
      if (fingerprintOfHex(String(body.newSessionKey)) === newKey) return null;
    }
    return "the rotation's body names another key";
  } catch (error) {
    return `the rotation's body cannot be read: ${error instanceof Error ? error.message : error}`;
  }
}
