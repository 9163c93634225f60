import {
  endOtherSessions,
  endSession,
  endSessionById,
  getNonce,
  getSessions,
  rotateSession,
  signIn,
} from "@perpgate/protocol/operations";
import { handle, handleByVenue } from "./handler.js";

export const AUTH_HANDLERS = [
  handle(getNonce, (_, { nonces, clock }) => nonces.issue(clock())),
  handleByVenue(signIn, ({ body, client }, venue, { addressLimits }) =>
    addressLimits.signIn(client.address, client.header, () => venue.signIn(client, body)),
  ),
  handleByVenue(rotateSession, ({ caller, body, bodyBytes, signature }, venue) =>
    venue.rotateSession(caller(), { body, bytes: bodyBytes, signature }),
  ),
  handleByVenue(endSession, ({ caller }, venue) => venue.endSession(caller())),
  handleByVenue(getSessions, ({ caller }, venue) => venue.sessionList(caller())),
  handleByVenue(endSessionById, ({ caller, params, signature }, venue) =>
    venue.endSessionById(caller(), params.id, signature),
  ),
  handleByVenue(endOtherSessions, ({ caller, signature }, venue) =>
    venue.endOtherSessions(caller(), signature),
  ),
];
