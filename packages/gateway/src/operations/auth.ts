import type { SessionInfo } from "@perpgate/protocol";
import {
  endOtherSessions,
  endSession,
  endSessionById,
  getNonce,
  getSessions,
  rotateSession,
  signIn,
} from "@perpgate/protocol/operations";
import { millisecondsOf } from "../auth/rfc3339.js";
import { isFaulty, siweLinesOf } from "../auth/siwe-lines.js";
import { handle, handleByVenue, handleForAccount } from "./handler.js";

export const AUTH_HANDLERS = [
  handle(getNonce, (_, { nonces, clock }) => nonces.issue(clock())),
  handleByVenue(signIn, ({ body, client }, venue, { addressLimits }) =>
    addressLimits.signIn(client.address, client.header, () => venue.signIn(client, body)),
  ),
  handleByVenue(rotateSession, ({ caller, body, bodyBytes, signature }, venue) =>
    venue.rotateSession(caller(), { body, bytes: bodyBytes, signature }),
  ),
  handleByVenue(endSession, ({ caller }, venue) => venue.endSession(caller())),
  handleForAccount(getSessions, async (_, { link, session, onNotes }) => {
    const { sessions } = await link.request("getSessions", { session }, onNotes);
    return sessions.map(({ info, message }) => ({ ...info, ...originOf(message) }));
  }),
  handleByVenue(endSessionById, ({ caller, params, signature }, venue) =>
    venue.endSessionById(caller(), params.id, signature),
  ),
  handleByVenue(endOtherSessions, ({ caller, signature }, venue) =>
    venue.endOtherSessions(caller(), signature),
  ),
];

/** Where the message was signed, and when by the wallet's clock. */
function originOf(message: string): Pick<SessionInfo, "domain" | "issuedAt"> {
  const lines = siweLinesOf(message);
  // Earlier releases took longer messages.
  if (isFaulty(lines)) return { domain: "", issuedAt: null };
  const issuedAt = millisecondsOf(lines.values.get("Issued At") ?? "") ?? null;
  return { domain: lines.domain, issuedAt };
}
