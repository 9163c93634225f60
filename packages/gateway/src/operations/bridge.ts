import type { Withdrawal } from "@perpgate/protocol";
import { ApiError, withoutHexPrefix } from "@perpgate/protocol/core";
import {
  getDeposit,
  getDepositQueue,
  getDeposits,
  getOpenWithdrawals,
  registerDeposit,
  requestWithdrawal,
  submitDepositVotes,
} from "@perpgate/protocol/operations";
import { orderWithinBudget } from "../limits/charge-operation.js";
import { withChecksums } from "./address-checksums.js";
import { handleByLink, handleForAccount, handleSigned } from "./handler.js";
import { askSigned } from "./signed-call.js";

const TX_HASH = /^[0-9a-f]{64}$/;

export const BRIDGE_HANDLERS = [
  handleForAccount(registerDeposit, async ({ body, client }, asking, context) => {
    const { link, session, onNotes } = asking;
    const { addressLimits, checksums } = context;
    addressLimits.takeRegistration(client.address, client.header);
    const txHash = withoutHexPrefix(body.txHash).toLowerCase();
    if (!TX_HASH.test(txHash)) throw new ApiError("invalid_tx_hash", {}, { field: "txHash" });
    const { chain, token } = body;
    const asked = { session, chain, txHash, token };
    const { result } = await link.request("registerDeposit", asked, onNotes);
    return withChecksums(result, checksums);
  }),
  handleForAccount(getDeposits, async ({ params, query }, asking, { checksums }) => {
    const { link, session, onNotes } = asking;
    const { result } = await link.request("getDeposits", { session, params, query }, onNotes);
    return result.map((deposit) => withChecksums(deposit, checksums));
  }),
  handleForAccount(getDeposit, async ({ params, query }, asking, { checksums }) => {
    const { link, session, onNotes } = asking;
    const { result } = await link.request("getDeposit", { session, params, query }, onNotes);
    return withChecksums(result, checksums);
  }),
  handleSigned(requestWithdrawal, async ({ client, body }, edge, signed) => {
    if (client.overBudget !== undefined) {
      await orderWithinBudget(signed.budgets, client, false, client.header);
    }
    return askSigned<Withdrawal>(edge, signed, (evidence, outcome) => {
      edge.link.ask("requestWithdrawal", { body, ...evidence }, outcome);
    });
  }),
  handleByLink(getOpenWithdrawals, async ({ params, query }, link, { checksums }) => {
    const { result } = await link.request("getOpenWithdrawals", { params, query });
    const withdrawals = result.withdrawals.map((each) => {
      return { ...each, account: checksums.of(each.account) };
    });
    return { ...result, withdrawals };
  }),
  handleByLink(submitDepositVotes, async ({ body, client }, link, { addressLimits }) => {
    addressLimits.takeAttestor(client.address, client.header);
    const { result } = await link.request("submitDepositVotes", { body });
    return result;
  }),
  handleByLink(getDepositQueue, async (call, link, { addressLimits }) => {
    const { body, bodyBytes: bytes, signature, client } = call;
    addressLimits.takeAttestor(client.address, client.header);
    const { result } = await link.request("getDepositQueue", { body, bytes, signature });
    return result;
  }),
];
