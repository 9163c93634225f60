import {
  getBridge,
  getDeposit,
  getDepositQueue,
  getDeposits,
  registerDeposit,
  submitDepositVotes,
} from "@perpgate/protocol/operations";
import { withChecksums } from "./address-checksums.js";
import { handleAccountRead, handleByVenue } from "./handler.js";

export const BRIDGE_HANDLERS = [
  handleByVenue(registerDeposit, async ({ caller, client, body }, venue, { checksums }) =>
    withChecksums(await venue.registerDeposit(caller(), client, body), checksums),
  ),
  handleAccountRead(getDeposits, async ({ params, query }, asking, { checksums }) => {
    const { link, session, onNotes } = asking;
    const { result } = await link.request("getDeposits", { session, params, query }, onNotes);
    return result.map((deposit) => withChecksums(deposit, checksums));
  }),
  handleAccountRead(getDeposit, async ({ params, query }, asking, { checksums }) => {
    const { link, session, onNotes } = asking;
    const { result } = await link.request("getDeposit", { session, params, query }, onNotes);
    return withChecksums(result, checksums);
  }),
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
