/** Sign-in, key rotation, session options, sign-out. */

import type { RotateBody, RotatedSession, SessionToken, SignInBody } from "@perpgate/protocol";
import { ApiError, hexFromBytes } from "@perpgate/protocol/core";
import { checkSignature, readSignature } from "../auth/order-signature.js";
import { ContractChecks } from "../auth/proofs/contract-checks.js";
import { keyOfBytes, readKeyBytes } from "../auth/session-key.js";
import { refuseResource } from "../auth/session-resource.js";
import { newSecret, tokenOf } from "../auth/session-token.js";
import {
  type CheckedSignIn,
  checkSignIn,
  proveKey,
  proveSignIn,
  type SignInRules,
  type SignInServices,
} from "../auth/sign-in.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import type { NewAccountLimit } from "../limits/limits.js";
import type { Caller, Client, SessionOptions, Signed } from "../request.js";
import type { SessionGuard } from "./session-guard.js";
import {
  type LiveSession,
  type RefusedOutcome,
  unexpectedRefusal,
  type VenueLink,
} from "./venue-link.js";

const NO_SIGNATURE = new Uint8Array(0);

export class SessionFlow {
  private readonly contractChecks = new ContractChecks();

  constructor(
    private readonly link: VenueLink,
    private readonly guard: SessionGuard,
    private readonly rules: SignInRules,
    private readonly services: SignInServices,
    private readonly signatures: SignatureVerifier,
    private readonly newAccounts: NewAccountLimit,
  ) {}

  async signIn(client: Client, body: SignInBody): Promise<SessionToken> {
    const { nonces, proofs } = this.services;
    const signIn = checkSignIn(body, this.link.wallMs(), this.rules, nonces);
    const { domain, nonce } = signIn.message;
    if (this.rules.domains === "any" && client.isForwarded) {
      // "any" is for local use only; a proxy in front means that the gateway is public.
      throw new ApiError("siwe_domain_not_allowed", { domain }, { field: "message" });
    }
    const markets = this.marketsOf(signIn);
    // The engine checks again, in log order; this check saves the proofs of a replayed message.
    if (this.link.views.isSignInNonceUsed(signIn.account, nonce)) throw nonceUsed();
    await proveSignIn(signIn, proofs, (check) => this.contractChecks.run(client, check));
    if (this.link.views.grantsAtSignIn(signIn.account)) {
      this.newAccounts.take(client.address, client.header);
    }
    const secret = newSecret(this.services.random);
    const session = await this.open(signIn, markets, secret.tokenHash);
    return { token: tokenOf(secret, session), expiresAt: signIn.expiresAtMs };
  }

  /** Resolves with the session's number. */
  private async open(signIn: CheckedSignIn, markets: number[], tokenHash: string): Promise<number> {
    const { key, message, resource } = signIn;
    const stampMs = this.link.nowMs();
    const { expiresAtMs, nonceUntilMs } = logTimesOf(signIn, stampMs - this.link.wallMs());
    const { outcome, seq } = await this.link.execute(
      {
        kind: "OpenSession",
        stampMs,
        address: signIn.account,
        key: key.fingerprint,
        tokenHash,
        expiresAtMs,
        siweNonce: message.nonce,
        siweNonceUntilMs: nonceUntilMs,
        maxOrderNotionalMicros: resource?.maxOrderNotionalMicros ?? 0,
        maxNotionalMicros: resource?.maxNotionalMicros ?? 0,
        markets,
      },
      {
        signed: Buffer.from(message.text, "utf8"),
        signature: signIn.walletSignature,
        publicKey: key.raw,
      },
    );
    if (outcome.kind !== "refused") {
      this.guard.cache(key);
      return seq;
    }
    switch (outcome.refusal) {
      case "siwe_nonce_used":
        throw nonceUsed();
      case "session_expired":
        throw new ApiError(
          "siwe_message_expired",
          { expirationTime: new Date(signIn.expiresAtMs).toISOString() },
          { field: "message" },
        );
      default:
        throw unexpectedRefusal("OpenSession", outcome);
    }
  }

  private marketsOf({ resource }: CheckedSignIn): number[] {
    return (resource?.symbols ?? []).map((symbol) => {
      const market = this.link.views.marketNumber(symbol);
      if (market === undefined) {
        throw refuseResource(resource?.line ?? 1, `symbols that are listed; ${symbol} is not`);
      }
      return market;
    });
  }

  async rotate(
    caller: Caller,
    known: LiveSession,
    { body, bytes, signature }: Signed<RotateBody>,
  ): Promise<RotatedSession> {
    const newBytes = readKeyBytes(body.newSessionKey, "newSessionKey");
    const session = await this.guard.caughtUp(known);
    const oldKey = this.guard.keyOf(session);
    const proof =
      signature === undefined && !this.guard.isKeyBound(session)
        ? NO_SIGNATURE
        : await this.proofOf(session, bytes, signature);
    await proveKey(newBytes, "newSessionKey", this.services.proofs);
    const newKey = keyOfBytes(newBytes);
    const { outcome } = await this.link.execute(
      {
        kind: "RotateSession",
        stampMs: this.link.nowMs(),
        session: session.number,
        oldKey: oldKey.fingerprint,
        newKey: newKey.fingerprint,
      },
      { signed: bytes, signature: proof, publicKey: newKey.raw },
    );
    if (outcome.kind === "refused") {
      if (outcome.refusal === "session_key_rotated") throw new ApiError("session_key_rotated", {});
      throw sessionRefusal("RotateSession", outcome);
    }
    this.guard.cache(newKey);
    return {
      token: caller.bearerToken.text,
      expiresAt: this.link.wallTimeOf(session.expiresAtMs),
      sessionKey: hexFromBytes(newKey.raw),
    };
  }

  /** The old key's verified signature over the body. */
  private async proofOf(
    session: LiveSession,
    bytes: Uint8Array,
    header: string | undefined,
  ): Promise<Uint8Array> {
    const key = this.guard.keyOf(session);
    const signature = readSignature(header, key, bytes);
    await checkSignature(this.signatures, key, bytes, signature);
    return signature;
  }

  async setOptions(session: LiveSession, { cancelOnDisconnect }: SessionOptions): Promise<void> {
    const { outcome } = await this.link.execute({
      kind: "SetSessionOption",
      stampMs: this.link.nowMs(),
      session: session.number,
      cancelOnDisconnect,
    });
    if (outcome.kind === "refused") throw sessionRefusal("SetSessionOption", outcome);
  }

  async end(session: LiveSession): Promise<{ endedAt: number }> {
    const { outcome, timeMs } = await this.link.execute({
      kind: "CloseSession",
      stampMs: this.link.nowMs(),
      session: session.number,
    });
    if (outcome.kind === "refused") throw sessionRefusal("CloseSession", outcome);
    return { endedAt: timeMs };
  }
}

function nonceUsed(): ApiError {
  return new ApiError("siwe_nonce_used", {}, { field: "message" });
}

/**
 * The engine expires sessions and nonces by log time, which differs from the wall clock if one of them
 * was wrong. A session's duration is the one its message allows, whatever the log time is. A nonce is
 * kept until no wall clock accepts its message: longer if log time is ahead.
 */
function logTimesOf(signIn: CheckedSignIn, aheadMs: number) {
  return {
    expiresAtMs: signIn.expiresAtMs + aheadMs,
    nonceUntilMs: signIn.nonceForgottenAtMs + Math.max(0, aheadMs),
  };
}

/** A session that ended after the token was checked gives `invalid_token`. */
export function sessionRefusal(command: string, outcome: RefusedOutcome): Error {
  const isGone = outcome.refusal === "session_unknown" || outcome.refusal === "session_expired";
  return isGone ? new ApiError("invalid_token", {}) : unexpectedRefusal(command, outcome);
}
