/**
 * Ending sessions of an account. A token alone must not end other sessions:
 * that takes the caller's session key too, which signs the request's method and path.
 */

import type { EndedSession, EndedSessions } from "@perpgate/protocol";
import { ApiError, endSessionText } from "@perpgate/protocol/core";
import { type Evidence, NO_EVIDENCE } from "@perpgate/venue";
import { checkSignature, readSignature } from "../auth/order-signature.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import { sessionRefusal } from "./session-flow.js";
import type { SessionGuard } from "./session-guard.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

export class SessionList {
  constructor(
    private readonly link: VenueLink,
    private readonly guard: SessionGuard,
    private readonly signatures: SignatureVerifier,
  ) {}

  async end(caller: LiveSession, id: string, signature: string | undefined): Promise<EndedSession> {
    const session = this.link.views.session(Number(id));
    if (session?.account !== caller.account) throw new ApiError("session_not_found", { id });
    const isOwn = session.number === caller.number;
    const evidence = isOwn
      ? NO_EVIDENCE
      : await this.proofOf(caller, endSessionText(id), signature);
    const endedAt = await this.close(session.number, evidence);
    // It ended before this command.
    if (endedAt === undefined) throw new ApiError("session_not_found", { id });
    return { endedAt };
  }

  async endOthers(caller: LiveSession, signature: string | undefined): Promise<EndedSessions> {
    const evidence = await this.proofOf(caller, endSessionText(), signature);
    const others = this.link.views
      .sessions(caller.account)
      .filter(({ number }) => number !== caller.number);
    const ended = await Promise.all(
      others.map(async ({ number }) =>
        (await this.close(number, evidence)) === undefined ? [] : [String(number)],
      ),
    );
    return { ended: ended.flat() };
  }

  /** Resolves with the time, or undefined if the session was gone. */
  private async close(session: number, evidence: Evidence): Promise<number | undefined> {
    const command = { kind: "CloseSession", stampMs: this.link.nowMs(), session } as const;
    const { outcome, timeMs } = await this.link.execute(command, evidence);
    if (outcome.kind !== "refused") return timeMs;
    const isGone = outcome.refusal === "session_unknown" || outcome.refusal === "session_expired";
    if (isGone) return undefined;
    throw sessionRefusal("CloseSession", outcome);
  }

  /** The verified signature over the text, as the log keeps it. */
  private async proofOf(
    caller: LiveSession,
    text: string,
    header: string | undefined,
  ): Promise<Evidence> {
    const signed = Buffer.from(text, "utf8");
    if (header === undefined || header === "") {
      const details = { signs: text };
      throw new ApiError("signature_required", {}, { field: "X-Service-Sig", details });
    }
    const key = this.guard.keyOf(await this.guard.caughtUp(caller));
    const signature = readSignature(header, key, signed);
    await checkSignature(this.signatures, key, signed, signature);
    return { signed, signature, publicKey: key.raw };
  }
}
