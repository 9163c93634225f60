/**
 * Sessions: what an edge needs to check tokens and signatures, and the commands that open, change and end
 * them. The edge has checked message, keys and signatures; here is what needs the venue's state.
 */

import { hash } from "node:crypto";
import type { Unsigned, UnsignedTerms } from "@perpgate/engine";
import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking, RequestHandlers } from "@perpgate/link";
import { ApiError, bindsSessionKey, endSessionText } from "@perpgate/protocol/core";
import { type Evidence, NO_EVIDENCE } from "../record/record.js";
import type { Venue } from "../venue.js";
import { fingerprintOf } from "../verify/key-signature.js";
import { closedSessionsIn } from "../views/outcome.js";
import { type AccountCalls, askingSession, knownSession } from "./account-calls.js";
import {
  executeCommand,
  isExecuted,
  isSessionGone,
  sessionRefusal,
  unanswered,
  unsignedTerms,
} from "./execution.js";
import { wallTimeOf } from "./wall-time.js";

type Sessions = Pick<
  RequestHandlers,
  | "awaitPosition"
  | "getSession"
  | "prepareSessionChange"
  | "rotateSession"
  | "endSession"
  | "endSessionById"
  | "endOtherSessions"
  | "setSessionOptions"
>;

const NO_SIGNATURE = new Uint8Array(0);

export function sessionCalls(venue: Venue, commands: AccountCalls): Sessions {
  const { views } = venue;
  return {
    awaitPosition: async ({ position, isAnswered }) => ({
      isReached: isAnswered
        ? await venue.reachedIfAnswered(position)
        : await venue.reached(position),
    }),
    getSession: ({ session: number }) => {
      const session = views.session(number);
      return { found: session === undefined ? undefined : knownOf(venue, session) };
    },
    prepareSessionChange: ({ session, other }, notes: NotesInMaking) =>
      commands.run(session, notes, (caller) => {
        if (other !== undefined) sessionOfAccount(venue, caller.account, other);
        return { current: knownOf(venue, caller) };
      }),
    rotateSession: async (
      { session, key, newPublicKey, bytes, signature = NO_SIGNATURE },
      notes,
    ) => {
      const { expiresAtMs } = askingSession(venue, session, notes);
      const { outcome } = await executeCommand(
        venue,
        {
          kind: "RotateSession",
          stampMs: venue.nowMs(),
          session,
          oldKey: key,
          newKey: fingerprintOf(newPublicKey),
          ...unsignedTerms(venue, notes),
        },
        { signed: bytes, signature, publicKey: newPublicKey },
      );
      if (outcome.kind !== "refused") return { expiresAt: wallTimeOf(venue, expiresAtMs) };
      if (outcome.refusal === "session_key_rotated") throw new ApiError("session_key_rotated", {});
      throw sessionRefusal("RotateSession", outcome);
    },
    endSession: async ({ session }, notes) => {
      const endedAt = await close(venue, session, NO_EVIDENCE, unsignedTerms(venue, notes));
      if (endedAt === undefined) throw new ApiError("invalid_token", {});
      return { result: { endedAt } };
    },
    endSessionById: async ({ session, id, proof }, notes) => {
      const terms = unsignedTerms(venue, notes);
      let evidence = NO_EVIDENCE;
      // A copy may name a session that the first has ended.
      if (!isExecuted(venue, notes)) {
        const caller = knownSession(venue, session);
        sessionOfAccount(venue, caller.account, id);
        if (proof !== undefined) evidence = evidenceOf(venue, caller, endSessionText(id), proof);
      }
      const endedAt = await close(venue, Number(id), evidence, terms);
      // It ended before this command.
      if (endedAt === undefined) throw new ApiError("session_not_found", { id });
      return { result: { endedAt } };
    },
    endOtherSessions: async ({ session, proof }, notes) => {
      const { request } = unsignedTerms(venue, notes);
      const before = endedBefore(venue, request);
      if (before.parts > 0 && views.session(session) === undefined) {
        throw unanswered("outcome_unknown");
      }
      const caller = knownSession(venue, session);
      // A copy leaves those alone that were opened after the first: the number is the position.
      const others = views
        .sessions(caller.account)
        .filter(({ number }) => number !== session && number < before.position);
      if (before.parts > 0 && others.length === 0) return { result: { ended: before.sessions } };
      const evidence = evidenceOf(venue, caller, endSessionText(), proof);
      const ended = await Promise.all(
        others.map(async ({ number }, index) => {
          const terms = request && { request: partOf(request, before.parts + index) };
          const endedAt = await close(venue, number, evidence, terms ?? {});
          return endedAt === undefined ? [] : [String(number)];
        }),
      );
      return { result: { ended: [...before.sessions, ...ended.flat()] } };
    },
    setSessionOptions: ({ session, cancelOnDisconnect }, notes) =>
      commands.run(session, notes, async () => {
        const { outcome } = await executeCommand(venue, {
          kind: "SetSessionOption",
          stampMs: venue.nowMs(),
          session,
          cancelOnDisconnect,
          ...unsignedTerms(venue, notes),
        });
        if (outcome.kind === "refused") throw sessionRefusal("SetSessionOption", outcome);
        return {};
      }),
  };
}

function knownOf({ views }: Venue, { number, account, tokenHash }: Session) {
  const row = views.sessionKey(number);
  if (row === undefined) throw new Error(`session ${number} has no key in the log`);
  const { publicKey, message } = row;
  return { account, tokenHash, publicKey, isKeyBound: bindsSessionKey(message.toString("utf8")) };
}

/** A live session of the account. @throws ApiError `session_not_found` */
function sessionOfAccount({ views }: Venue, account: number, id: string): Session {
  const session = views.session(Number(id));
  if (session?.account !== account) throw new ApiError("session_not_found", { id });
  return session;
}

/** What the log keeps of a proof, if the key that signed it is still the session's. */
function evidenceOf(
  { views }: Venue,
  { number, key }: Session,
  text: string,
  proof: { readonly key: string; readonly signature: Uint8Array },
): Evidence {
  const publicKey = views.sessionKey(number)?.publicKey;
  if (key !== proof.key || publicKey === undefined) throw new ApiError("session_key_rotated", {});
  return { signed: Buffer.from(text, "utf8"), signature: proof.signature, publicKey };
}

/** The terms of one of the commands of a request; the request's own id is that of none of them. */
function partOf({ id, notAfterMs }: UnsignedTerms, part: number): UnsignedTerms {
  return { id: hash("sha256", `${id} ${part}`, "hex").slice(0, id.length), notAfterMs };
}

/** What the parts of an earlier copy have ended; `position`: of the first of them. */
function endedBefore({ views }: Venue, request: UnsignedTerms | undefined) {
  const sessions: string[] = [];
  let position = Number.POSITIVE_INFINITY;
  let parts = 0;
  for (;;) {
    const kept = views.keptRequest(request && partOf(request, parts));
    if (kept === undefined) return { parts, sessions, position };
    position = Math.min(position, kept.seq);
    sessions.push(...closedSessionsIn(kept).map(String));
    parts++;
  }
}

/** Resolves with the time, or undefined if the session was gone. */
async function close(
  venue: Venue,
  session: number,
  evidence: Evidence,
  terms: Unsigned,
): Promise<number | undefined> {
  const command = { kind: "CloseSession", stampMs: venue.nowMs(), session, ...terms } as const;
  const { outcome, timeMs } = await executeCommand(venue, command, evidence);
  if (outcome.kind !== "refused") return timeMs;
  if (isSessionGone(outcome)) return undefined;
  throw sessionRefusal("CloseSession", outcome);
}
