/** Reads of the account: balance, positions, ledger, deposits, funding. */

import {
  CHAINS,
  fromMicros,
  MaintenanceSchedule,
  TOKENS,
  toMicrosFloor,
} from "@perpgate/protocol/core";
import type {
  Account,
  Deposit,
  FundingPayment,
  LedgerEntry as VenueLedgerEntry,
  Market as VenueMarket,
  Position as VenuePosition,
} from "@perpgate/sdk";
import {
  type Balances,
  type Currency,
  type DepositAddress,
  type Dict,
  errors,
  type FundingHistory,
  type Int,
  type LedgerEntry,
  type Market,
  type Position,
  type Strings,
  type Transaction,
} from "ccxt";
import { DOLLARS, NETWORKS } from "./currencies.js";
import { FundingData } from "./funding-data.js";
import { exact, given, isoOf, known, oldestFirst, untilOf } from "./values.js";

/** The kinds of the venue's ledger in CCXT's words, which have none for funding but that of a fee. */
const LEDGER_TYPES = {
  deposit: "transaction",
  grant: "cashback",
  fee: "fee",
  pnl: "trade",
  funding: "fee",
  liquidation: "trade",
  adl: "trade",
  settlement: "trade",
  margin: "margin",
  withdrawal: "transaction",
  withdrawalFee: "fee",
} as const satisfies Record<VenueLedgerEntry["kind"], string>;

const DEPOSIT_STATUS = {
  queued: "pending",
  confirming: "pending",
  credited: "ok",
  rejected: "failed",
} as const satisfies Record<Deposit["status"], string>;

type Asset = Pick<Deposit, "chain" | "token">;

export class AccountData extends FundingData {
  override async fetchBalance(): Promise<Balances> {
    return this.parseBalance(await this.askSession((session) => session.account()));
  }

  override parseBalance(
    account: Pick<Account, "balance" | "available"> & { readonly time?: number },
  ): Balances {
    const { balance, available, time } = account;
    const used = exact(balance - available);
    return this.safeBalance({
      info: account,
      timestamp: time,
      datetime: time === undefined ? undefined : isoOf(time),
      [DOLLARS]: { free: available, used, total: balance },
    });
  }

  override async fetchPosition(symbol: string): Promise<Position> {
    const { market } = await this.located(symbol);
    const [position] = await this.fetchPositions([symbol]);
    return position ?? this.safePosition({ symbol: market.symbol, contracts: 0, contractSize: 1 });
  }

  override async fetchPositions(symbols?: Strings): Promise<Position[]> {
    await this.loadMarkets();
    const positions = await this.askSession((session) => session.positions());
    return this.parsePositions(positions, this.marketSymbols(symbols));
  }

  override parsePosition(position: VenuePosition, market?: Market): Position {
    const { size, margin, markPrice, unrealizedPnl, updatedAt } = position;
    const listed = this.safeMarket(position.symbol, market);
    const contracts = Math.abs(size);
    const notional = exact(contracts * markPrice);
    const maintenanceMargin = maintenanceOf(listed.info?.tiers ?? [], notional);
    const equity = margin + unrealizedPnl;
    return this.safePosition({
      info: position,
      id: undefined,
      symbol: listed.symbol,
      timestamp: updatedAt,
      datetime: isoOf(updatedAt),
      hedged: false,
      side: position.side,
      contracts,
      contractSize: 1,
      entryPrice: position.avgEntry,
      markPrice,
      lastPrice: undefined,
      notional,
      leverage: position.leverage,
      collateral: margin,
      initialMargin: margin,
      initialMarginPercentage: notional === 0 ? undefined : exact(margin / notional),
      maintenanceMargin,
      maintenanceMarginPercentage: notional === 0 ? undefined : exact(maintenanceMargin / notional),
      marginRatio: equity > 0 ? exact(maintenanceMargin / equity) : undefined,
      unrealizedPnl,
      realizedPnl: position.realizedPnl,
      percentage: margin === 0 ? undefined : exact((unrealizedPnl / margin) * 100),
      liquidationPrice: known(position.liquidationPrice),
      marginMode: "isolated",
      stopLossPrice: undefined,
      takeProfitPrice: undefined,
    });
  }

  override async fetchLedger(
    code?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<LedgerEntry[]> {
    await this.loadMarkets();
    const currency = this.currency(code ?? DOLLARS);
    if (currency.code !== DOLLARS) return [];
    const options = given({
      limit,
      from: since,
      to: untilOf(params),
      after: this.fromStart(since),
    });
    const entries = await this.askSession((session) => session.ledger(options));
    return this.parseLedger(oldestFirst(entries, options), currency, since, limit);
  }

  override parseLedgerEntry(entry: VenueLedgerEntry, currency?: Currency): LedgerEntry {
    const { id, kind, amount, balance, reference, time } = entry;
    return this.safeLedgerEntry(
      {
        info: entry,
        id,
        timestamp: time,
        datetime: isoOf(time),
        direction: amount < 0 ? "out" : "in",
        account: this.currentSession?.address,
        referenceId: reference,
        referenceAccount: undefined,
        type: LEDGER_TYPES[kind],
        currency: DOLLARS,
        amount: Math.abs(amount),
        before: exact(balance - amount),
        after: balance,
        status: "ok",
        // A fee is an entry of its own.
        fee: { cost: 0, currency: DOLLARS },
      },
      currency,
    );
  }

  override async fetchDeposits(
    code?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Transaction[]> {
    await this.loadMarkets();
    const { address } = await this.session();
    const deposits = await this.askSession((session) => session.deposits());
    const entries = deposits.reverse().flatMap((deposit) => this.depositsOf(deposit, address));
    return this.transactionsIn(entries, code, since, limit, params);
  }

  /** Of entries, oldest first: those of the currency and the time, at most `limit`. */
  protected transactionsIn(
    entries: readonly Transaction[],
    code: string | undefined,
    since: Int,
    limit: Int,
    params: Dict,
  ): Transaction[] {
    const [from, to] = [since ?? 0, untilOf(params) ?? Number.POSITIVE_INFINITY];
    const found = entries
      .filter(({ currency }) => code === undefined || currency === code)
      .filter(({ timestamp = 0 }) => timestamp >= from && timestamp < to);
    if (limit === undefined) return found;
    return since === undefined ? found.slice(-limit) : found.slice(0, limit);
  }

  /**
   * Registers a deposit by its transaction; it is credited to the sender on the chain. CCXT has no call
   * for this. `params.network` is ERC20, ARBONE or TRC20.
   */
  async registerDeposit(code: string, txid: string, params: Dict = {}): Promise<Transaction> {
    const { chain, token } = this.assetOf(code, params.network, "takes");
    const { address } = await this.session();
    const deposit = await this.askSession((session) =>
      session.deposit({ chain, token, txHash: txid }),
    );
    const [entry] = this.depositsOf(deposit, address);
    return entry;
  }

  /** The venue's names of a token and of the network that it is paid on. */
  protected assetOf(code: string, network: unknown, verb: "takes" | "pays"): Asset {
    const chain = CHAINS.find((name) => name === network || NETWORKS[name] === network);
    const token = TOKENS.find((name) => name === code);
    if (chain !== undefined && token !== undefined) return { chain, token };
    const networks = CHAINS.map((name) => NETWORKS[name]).join(", ");
    throw new errors.BadRequest(
      `${this.id} ${verb} ${TOKENS.join(", ")} on the networks ${networks}`,
    );
  }

  /**
   * One transaction may pay several accounts, in several tokens: an entry for each token that this account
   * was credited. Until then the currency is what the registration named.
   */
  private depositsOf(deposit: Deposit, address: string): [Transaction, ...Transaction[]] {
    const own = deposit.credits.filter(({ account }) => account === address);
    const [first = deposit.token, ...others] = new Set(own.map(({ token }) => token));
    const sender = (own[0] ?? deposit.credits[0])?.account;
    const entryOf = (token: string): Transaction => {
      const amounts = own.filter((credit) => credit.token === token).map(({ amount }) => amount);
      const total = exact(amounts.reduce((sum, one) => sum + one, 0));
      return this.depositEntry(deposit, token, total, sender);
    };
    return [entryOf(first), ...others.map(entryOf)];
  }

  private depositEntry(
    deposit: Deposit,
    currency: string,
    amount: number,
    addressFrom: string | undefined,
  ): Transaction {
    const { registeredAt, settledAt } = deposit;
    return {
      info: deposit,
      id: deposit.depositId,
      txid: deposit.txHash,
      timestamp: registeredAt,
      datetime: isoOf(registeredAt),
      network: NETWORKS[deposit.chain],
      address: undefined,
      addressTo: undefined,
      addressFrom,
      tag: undefined,
      tagTo: undefined,
      tagFrom: undefined,
      type: "deposit",
      amount,
      currency,
      status: DEPOSIT_STATUS[deposit.status],
      updated: settledAt ?? registeredAt,
      internal: false,
      comment: known(deposit.reason),
      fee: { cost: 0, currency },
    };
  }

  /** A venue with the `dev` attestor has no vault: it credits any transaction that is registered. */
  override async fetchDepositAddress(code: string, params: Dict = {}): Promise<DepositAddress> {
    await this.loadMarkets();
    const { chains, attestor } = await this.ask((client) => client.bridge());
    if (chains.length === 0) {
      const hint = attestor === "dev" ? "; registerDeposit() credits test money" : "";
      throw new errors.NotSupported(`${this.id} this venue has no vault to deposit to${hint}`);
    }
    const wanted: unknown = params.network;
    const found = chains.find(
      ({ chain, tokens }) =>
        (wanted === undefined || wanted === chain || wanted === NETWORKS[chain]) &&
        tokens.some(({ token }) => token === code),
    );
    if (found === undefined) {
      const taken = chains.map(
        ({ chain, tokens }) =>
          `${tokens.map(({ token }) => token).join(", ")} on ${NETWORKS[chain]}`,
      );
      throw new errors.NotSupported(`${this.id} takes ${taken.join("; ")}`);
    }
    const network = NETWORKS[found.chain];
    return { info: found, currency: code, network, address: found.vault, tag: undefined };
  }

  override async fetchFundingHistory(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<FundingHistory[]> {
    await this.loadMarkets();
    const id = symbol === undefined ? undefined : this.market(symbol).id;
    const to = untilOf(params);
    const options = given({ symbol: id, limit, from: since, to, after: this.fromStart(since) });
    const payments = await this.askSession((session) => session.fundingPayments(options));
    return oldestFirst(payments, options).map((payment) => this.parseIncome(payment));
  }

  override parseIncome(payment: FundingPayment): FundingHistory {
    const { id, amount, time: timestamp } = payment;
    const symbol = this.safeSymbol(payment.symbol);
    const datetime = isoOf(timestamp);
    return { info: payment, symbol, code: DOLLARS, timestamp, datetime, id, amount };
  }
}

/** None for a market that is not listed. */
function maintenanceOf(tiers: VenueMarket["tiers"], notional: number): number {
  if (tiers.length === 0) return 0;
  return fromMicros(MaintenanceSchedule.listed(tiers).of(toMicrosFloor(notional)));
}
