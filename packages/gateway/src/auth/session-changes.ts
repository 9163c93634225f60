/**
 * Changes of sessions that the session's key signs: rotating a key, ending other sessions. A token alone
 * must not end other sessions: that takes the caller's session key too, which signs the request's method
 * and path.
 *
 * The core counts the change first, and gives the session as the whole log has it: its key may have been
 * rotated elsewhere.
 */

import type { CoreAccess, OnNotes } from "@perpgate/link";
import type { EndedSession, EndedSessions, RotateBody, RotatedSession } from "@perpgate/protocol";
import { ApiError, endSessionText, hexFromBytes } from "@perpgate/protocol/core";
import { signedCost } from "../limits/costs.js";
import type { KeyedLimit } from "../limits/limits.js";
import type { HeaderSink, Signed } from "../request.js";
import type { EdgeSession, EdgeSessions } from "./edge-sessions.js";
import { checkSignature, isFailedSignature, readSignature } from "./order-signature.js";
import { keyOfBytes, readKeyBytes, type SessionPublicKey } from "./session-key.js";
import { proveKey } from "./sign-in.js";
import type { SignatureCheck } from "./signature-check.js";

interface SignedServices {
  readonly link: CoreAccess;
  readonly sessions: EdgeSessions;
  readonly signatures: SignatureCheck;
  /** By session: signatures that do not verify, past which none is checked. */
  readonly failedSignatures: KeyedLimit<number>;
}

/** Who asks for a change. */
export interface Changing {
  readonly session: EdgeSession;
  readonly header: HeaderSink;
  readonly onNotes: OnNotes;
  /** Charges microseconds of work to the sender. */
  charge(micros: number): void;
}

interface Proof {
  readonly key: string;
  readonly signature: Uint8Array;
}

export class SessionChanges {
  constructor(private readonly services: SignedServices) {}

  async rotate(
    by: Changing,
    token: string,
    { body, bytes, signature: header }: Signed<RotateBody>,
  ): Promise<RotatedSession> {
    const { link } = this.services;
    const { number: session, isKeyBound } = by.session;
    const key = await this.keyOf(by, undefined);
    return this.withinFailures(by, key, async () => {
      const newBytes = readKeyBytes(body.newSessionKey, "newSessionKey");
      const isSigned = header !== undefined || isKeyBound;
      const signature = isSigned ? this.checked(key, bytes, header) : undefined;
      proveKey(newBytes, "newSessionKey");
      const { raw } = keyOfBytes(newBytes);
      const rotation = { session, key: key.fingerprint, newPublicKey: raw, bytes, signature };
      const { expiresAt } = await link.request("rotateSession", rotation);
      return { token, expiresAt, sessionKey: hexFromBytes(raw) };
    });
  }

  async end(by: Changing, id: string, header: string | undefined): Promise<EndedSession> {
    const { link } = this.services;
    const { number: session } = by.session;
    const key = await this.keyOf(by, id);
    return this.withinFailures(by, key, async () => {
      const isOwn = Number(id) === session;
      const proof = isOwn ? undefined : this.proofOf(key, endSessionText(id), header);
      return (await link.request("endSessionById", { session, id, proof })).result;
    });
  }

  async endOthers(by: Changing, header: string | undefined): Promise<EndedSessions> {
    const { link } = this.services;
    const { number: session } = by.session;
    const key = await this.keyOf(by, undefined);
    return this.withinFailures(by, key, async () => {
      const proof = this.proofOf(key, endSessionText(), header);
      return (await link.request("endOtherSessions", { session, proof })).result;
    });
  }

  /** Has the core count the change, and find the session that it ends. */
  private async keyOf(
    { session: { number: session }, onNotes }: Changing,
    other: string | undefined,
  ): Promise<SessionPublicKey> {
    const { link, sessions } = this.services;
    const asked = { session, other };
    const { current } = await link.request("prepareSessionChange", asked, onNotes);
    return sessions.add(session, current).key;
  }

  /**
   * Runs what may check a signature of the session. Once too many of the session have failed, nothing of
   * it is checked: a check that fails costs the sender nothing, and this process as much as one that
   * succeeds.
   */
  private async withinFailures<T>(
    { session: { number }, header, charge }: Changing,
    { kind }: SessionPublicKey,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const { failedSignatures } = this.services;
    failedSignatures.refuseIfSpent(number, header);
    charge(signedCost(kind, 0));
    try {
      return await attempt();
    } catch (error) {
      if (isFailedSignature(error)) failedSignatures.count(number);
      throw error;
    }
  }

  /** The verified signature over the text. */
  private proofOf(key: SessionPublicKey, text: string, header: string | undefined): Proof {
    if (header === undefined || header === "") {
      const details = { signs: text };
      throw new ApiError("signature_required", {}, { field: "X-Service-Sig", details });
    }
    const signature = this.checked(key, Buffer.from(text, "utf8"), header);
    return { key: key.fingerprint, signature };
  }

  private checked(
    key: SessionPublicKey,
    bytes: Uint8Array,
    header: string | undefined,
  ): Uint8Array {
    const signature = readSignature(header, key, bytes);
    checkSignature(this.services.signatures, key, bytes, signature);
    return signature;
  }
}
