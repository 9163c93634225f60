import {
  getBridge,
  getDeposit,
  getDepositQueue,
  getDeposits,
  registerDeposit,
  submitDepositVotes,
} from "@perpgate/protocol/operations";
import { chargeRows } from "../limits/charge-operation.js";
import { handleByVenue } from "./handler.js";

export const BRIDGE_HANDLERS = [
  handleByVenue(registerDeposit, ({ caller, client, body }, venue) =>
    venue.registerDeposit(caller(), client, body),
  ),
  handleByVenue(getDeposits, ({ caller, client, query }, venue, { budgets }) =>
    venue.deposits(caller(), query, (rows) => chargeRows(budgets, client, rows)),
  ),
  handleByVenue(getDeposit, ({ caller, params }, venue) => venue.deposit(caller(), params.id)),
  handleByVenue(getBridge, (_, venue) => venue.bridge()),
  handleByVenue(submitDepositVotes, async ({ body, client }, venue, { addressLimits }) => {
    addressLimits.takeAttestor(client.address, client.header);
    return venue.submitVotes(body);
  }),
  handleByVenue(
    getDepositQueue,
    async ({ body, bodyBytes, signature, client }, venue, { addressLimits }) => {
      addressLimits.takeAttestor(client.address, client.header);
      return venue.depositQueue({ body, bytes: bodyBytes, signature });
    },
  ),
];
