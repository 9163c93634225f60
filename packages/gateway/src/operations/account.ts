import {
  getAccount,
  getFills,
  getFundingPayments,
  getLedger,
  getPositions,
  getPreconfirm,
} from "@perpgate/protocol/operations";
import { handleByVenue } from "./handler.js";

export const ACCOUNT_HANDLERS = [
  handleByVenue(getAccount, ({ caller }, venue) => venue.account(caller())),
  handleByVenue(getPositions, ({ caller }, venue) => venue.positions(caller())),
  handleByVenue(getFills, ({ caller, query }, venue) => venue.fills(caller(), query)),
  handleByVenue(getLedger, ({ caller, query }, venue) => venue.ledger(caller(), query)),
  handleByVenue(getFundingPayments, ({ caller, query }, venue) =>
    venue.fundingPayments(caller(), query),
  ),
  handleByVenue(getPreconfirm, ({ caller, params }, venue) =>
    venue.preconfirm(caller(), params.ackNonce),
  ),
];
