import { getAccount, getFills, getPositions, getPreconfirm } from "@perpgate/protocol/operations";
import { handleByVenue } from "./handler.js";

export const ACCOUNT_HANDLERS = [
  handleByVenue(getAccount, ({ caller }, venue) => venue.account(caller())),
  handleByVenue(getPositions, ({ caller }, venue) => venue.positions(caller())),
  handleByVenue(getFills, ({ caller, query }, venue) => venue.fills(caller(), query)),
  handleByVenue(getPreconfirm, ({ caller, params }, venue) =>
    venue.preconfirm(caller(), params.ackNonce),
  ),
];
