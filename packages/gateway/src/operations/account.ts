import {
  getAccount,
  getFills,
  getFundingPayments,
  getLedger,
  getPositions,
  getPreconfirm,
  getPreconfirmProof,
} from "@perpgate/protocol/operations";
import { checksummed } from "./address-checksums.js";
import { handleForAccount, PlainText } from "./handler.js";

export const ACCOUNT_HANDLERS = [
  handleForAccount(getAccount, async ({ params, query }, { link, session, onNotes }) => {
    const asked = { session, params, query };
    const { result } = await link.request("getAccount", asked, onNotes);
    return { ...result, address: checksummed(result.address) };
  }),
  handleForAccount(getPositions, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getPositions", { session, params, query }, onNotes);
    return result;
  }),
  handleForAccount(getFills, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getFills", { session, params, query }, onNotes);
    return result;
  }),
  handleForAccount(getLedger, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getLedger", { session, params, query }, onNotes);
    return result;
  }),
  handleForAccount(getFundingPayments, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request(
      "getFundingPayments",
      { session, params, query },
      onNotes,
    );
    return result;
  }),
  handleForAccount(getPreconfirmProof, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request(
      "getPreconfirmProof",
      { session, params, query },
      onNotes,
    );
    return new PlainText(result);
  }),
  handleForAccount(getPreconfirm, async ({ params, query }, { link, session, onNotes }) => {
    const { result } = await link.request("getPreconfirm", { session, params, query }, onNotes);
    return result;
  }),
];
