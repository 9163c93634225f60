import {
  getAccount,
  getFills,
  getFundingPayments,
  getLedger,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
} from "@perpgate/protocol/operations";
import { handleByVenue, PlainText } from "./handler.js";

export const ACCOUNT_HANDLERS = [
  handleByVenue(getAccount, ({ caller }, venue) => venue.accountReads.account(caller())),
  handleByVenue(getPositions, ({ caller }, venue) => venue.accountReads.positions(caller())),
  handleByVenue(getFills, ({ caller, query }, venue) => venue.accountReads.fills(caller(), query)),
  handleByVenue(getLedger, ({ caller, query }, venue) =>
    venue.accountReads.ledger(caller(), query),
  ),
  handleByVenue(getFundingPayments, ({ caller, query }, venue) =>
    venue.accountReads.fundingPayments(caller(), query),
  ),
  handleByVenue(
    getPreconfirmProof,
    async ({ caller, params }, venue) =>
      new PlainText(await venue.accountReads.preconfirmProof(caller(), params.ackNonce)),
  ),
  handleByVenue(getPreconfirm, ({ caller, params }, venue) =>
    venue.accountReads.preconfirm(caller(), params.ackNonce),
  ),
];
