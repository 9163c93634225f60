/** Withdrawals: always to the account's own address. */

import type { Withdrawal } from "@perpgate/sdk";
import { type Dict, errors, type Int, type Transaction } from "ccxt";
import { AccountData } from "./account-data.js";
import { NETWORKS } from "./currencies.js";
import { exact, isoOf, known } from "./values.js";

const STATUS = {
  queued: "pending",
  attested: "pending",
  pending: "pending",
  paid: "ok",
  expired: "failed",
} as const satisfies Record<Withdrawal["status"], string>;

export class Withdrawing extends AccountData {
  /** `params.network` is ERC20 or ARBONE. An address is not needed, and no other than the account's is taken. */
  override async withdraw(
    code: string,
    amount: number,
    address?: string,
    _tag?: string,
    { network, nonce }: Dict = {},
  ): Promise<Transaction> {
    const { chain, token } = this.assetOf(code, network, "pays");
    const own = (await this.session()).address;
    if (address !== undefined && address.toLowerCase() !== own.toLowerCase()) {
      throw new errors.InvalidAddress(`${this.id} pays to the account's own address ${own} only`);
    }
    const options = typeof nonce === "number" ? { nonce } : {};
    const asked = await this.askSession((session) =>
      session.withdraw({ chain, token, amount }, options),
    );
    return withdrawalEntry(asked, own);
  }

  override async fetchWithdrawals(
    code?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Transaction[]> {
    await this.loadMarkets();
    const { address } = await this.session();
    const withdrawals = await this.askSession((session) => session.withdrawals());
    const entries = withdrawals.reverse().map((each) => withdrawalEntry(each, address));
    return this.transactionsIn(entries, code, since, limit, params);
  }
}

function withdrawalEntry(withdrawal: Withdrawal, address: string): Transaction {
  const { requestedAt, endedAt, token: currency } = withdrawal;
  return {
    info: withdrawal,
    id: withdrawal.withdrawalId,
    txid: known(withdrawal.txHash),
    timestamp: requestedAt,
    datetime: isoOf(requestedAt),
    network: NETWORKS[withdrawal.chain],
    address,
    addressTo: address,
    addressFrom: undefined,
    tag: undefined,
    tagTo: undefined,
    tagFrom: undefined,
    type: "withdrawal",
    amount: exact(withdrawal.amount),
    currency,
    status: STATUS[withdrawal.status],
    updated: endedAt ?? requestedAt,
    internal: false,
    comment: undefined,
    fee: { cost: withdrawal.fee, currency },
  };
}
