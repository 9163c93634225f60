/** Opens sessions. The edge has checked the message and its signature; the engine checks the nonce. */

import type { RequestBodies, RequestHandlers } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import { fingerprintOf } from "../verify/key-signature.js";
import { sessionOwnerIn } from "../views/outcome.js";
import { executeTaking, unexpectedRefusal, unsignedTerms } from "./execution.js";

type SignIns = Pick<RequestHandlers, "prepareSignIn" | "signIn">;

export function signIns(venue: Venue): SignIns {
  const { views } = venue;
  return {
    prepareSignIn: ({ address, nonce, symbols }) => {
      const markets: number[] = [];
      for (const symbol of symbols) {
        const market = views.marketNumber(symbol);
        if (market === undefined) return { markets, unlisted: symbol, isGranted: false };
        markets.push(market);
      }
      // The engine checks again, in log order; this check saves the proofs of a replayed message.
      if (views.isSignInNonceUsed(address, nonce)) throw nonceUsed();
      return { markets, unlisted: undefined, isGranted: views.grantsAtSignIn(address) };
    },
    signIn: async (request, notes) => {
      const { publicKey, message, signature, address } = request;
      const stampMs = venue.nowMs();
      const { outcome, session, account } = await executeTaking(
        venue,
        {
          kind: "OpenSession",
          stampMs,
          address,
          key: fingerprintOf(publicKey),
          tokenHash: request.tokenHash,
          ...logTimesOf(request, stampMs - venue.wallMs()),
          siweNonce: request.nonce,
          maxOrderNotionalMicros: request.maxOrderNotionalMicros,
          maxNotionalMicros: request.maxNotionalMicros,
          markets: [...request.markets],
          ...(request.contractChainId === undefined
            ? {}
            : { contractChainId: request.contractChainId }),
          ...unsignedTerms(venue, notes),
        },
        { signed: message, signature, publicKey },
        (applied) => ({
          outcome: views.outcome(applied),
          session: applied.seq,
          account: sessionOwnerIn(applied),
        }),
      );
      if (outcome.kind === "refused") {
        if (outcome.refusal === "siwe_nonce_used") throw nonceUsed();
        if (outcome.refusal === "session_expired") {
          const expirationTime = new Date(request.expiresAt).toISOString();
          throw new ApiError("siwe_message_expired", { expirationTime }, { field: "message" });
        }
        throw unexpectedRefusal("OpenSession", outcome);
      }
      if (account === undefined) throw new Error(`session ${session} was not opened`);
      return { session, account };
    },
  };
}

/**
 * The engine expires sessions and nonces by log time, which differs from the wall clock if one of them
 * was wrong. A session's duration is the one its message allows, whatever the log time is. A nonce is
 * kept until no wall clock accepts its message: longer if log time is ahead.
 */
function logTimesOf(
  { expiresAt, nonceForgottenAt }: RequestBodies["signIn"],
  aheadMs: number,
): { readonly expiresAtMs: number; readonly siweNonceUntilMs: number } {
  return {
    expiresAtMs: expiresAt + aheadMs,
    siweNonceUntilMs: nonceForgottenAt + Math.max(0, aheadMs),
  };
}

function nonceUsed(): ApiError {
  return new ApiError("siwe_nonce_used", {}, { field: "message" });
}
