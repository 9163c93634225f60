import {
  getAccount,
  getFills,
  getFundingPayments,
  getLedger,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
} from "@perpgate/protocol/operations";
import { chargeRows } from "../limits/charge-operation.js";
import { handleByVenue, PlainText } from "./handler.js";

export const ACCOUNT_HANDLERS = [
  handleByVenue(getAccount, ({ caller }, venue) => venue.accountReads.account(caller())),
  handleByVenue(getPositions, ({ caller }, venue) => venue.accountReads.positions(caller())),
  handleByVenue(getFills, ({ caller, query }, venue) => venue.accountReads.fills(caller(), query)),
  handleByVenue(getLedger, ({ caller, client, query }, venue, { budgets }) =>
    venue.accountReads.ledger(caller(), query, (rows) => chargeRows(budgets, client, rows)),
  ),
  handleByVenue(getFundingPayments, ({ caller, query }, venue) =>
    venue.accountReads.fundingPayments(caller(), query),
  ),
  handleByVenue(getPreconfirmProof, async ({ caller, client, params }, venue, { budgets }) => {
    const onRead = (rows: number) => chargeRows(budgets, client, rows);
    const { ackNonce } = params;
    return new PlainText(await venue.accountReads.preconfirmProof(caller(), ackNonce, onRead));
  }),
  handleByVenue(getPreconfirm, ({ caller, client, params }, venue, { budgets }) =>
    venue.accountReads.preconfirm(caller(), params.ackNonce, (rows) =>
      chargeRows(budgets, client, rows),
    ),
  ),
];
