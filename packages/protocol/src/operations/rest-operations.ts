/** Every REST operation, in the order of the OpenAPI document. */

import { amendOrder } from "./amend-order.js";
import { cancelAllOrders } from "./cancel-all-orders.js";
import { cancelNamedOrder } from "./cancel-named-order.js";
import { cancelOrder } from "./cancel-order.js";
import { cancelOrdersAfter } from "./cancel-orders-after.js";
import { changeMargin } from "./change-margin.js";
import { endOtherSessions } from "./end-other-sessions.js";
import { endSession } from "./end-session.js";
import { endSessionById } from "./end-session-by-id.js";
import { getAccount } from "./get-account.js";
import { getAsyncApi } from "./get-asyncapi.js";
import { getBlock } from "./get-block.js";
import { getBook } from "./get-book.js";
import { getBridge } from "./get-bridge.js";
import { getCandles } from "./get-candles.js";
import { getDeposit } from "./get-deposit.js";
import { getDepositQueue } from "./get-deposit-queue.js";
import { getDeposits } from "./get-deposits.js";
import { getFills } from "./get-fills.js";
import { getFunding } from "./get-funding.js";
import { getFundingPayments } from "./get-funding-payments.js";
import { getHealth } from "./get-health.js";
import { getHonesty } from "./get-honesty.js";
import { getLatestBlock } from "./get-latest-block.js";
import { getLedger } from "./get-ledger.js";
import { getLiability } from "./get-liability.js";
import { getMarkets } from "./get-markets.js";
import { getNonce } from "./get-nonce.js";
import { getOpenWithdrawals } from "./get-open-withdrawals.js";
import { getOpenApi } from "./get-openapi.js";
import { getOrder } from "./get-order.js";
import { getOrders } from "./get-orders.js";
import { getPositions } from "./get-positions.js";
import { getPreconfirm } from "./get-preconfirm.js";
import { getPreconfirmProof } from "./get-preconfirm-proof.js";
import { getReadiness } from "./get-readiness.js";
import { getReserves } from "./get-reserves.js";
import { getSessions } from "./get-sessions.js";
import { getStatus } from "./get-status.js";
import { getTicker } from "./get-ticker.js";
import { getTickers } from "./get-tickers.js";
import { getTime } from "./get-time.js";
import { getTrades } from "./get-trades.js";
import { getWithdrawal } from "./get-withdrawal.js";
import { getWithdrawals } from "./get-withdrawals.js";
import type { Operation } from "./operation.js";
import { placeBatch } from "./place-batch.js";
import { placeOrder } from "./place-order.js";
import { registerDeposit } from "./register-deposit.js";
import { requestWithdrawal } from "./request-withdrawal.js";
import { rotateSession } from "./rotate-session.js";
import { signIn } from "./sign-in.js";
import { submitDepositVotes } from "./submit-deposit-votes.js";

export const OPERATIONS: readonly Operation[] = [
  getNonce,
  signIn,
  rotateSession,
  endSession,
  getSessions,
  endSessionById,
  endOtherSessions,
  getMarkets,
  getBook,
  getTicker,
  getTickers,
  getTrades,
  getCandles,
  getFunding,
  placeOrder,
  placeBatch,
  getOrders,
  getOrder,
  amendOrder,
  cancelOrder,
  cancelNamedOrder,
  cancelAllOrders,
  cancelOrdersAfter,
  getAccount,
  getLiability,
  getPositions,
  changeMargin,
  getFills,
  getLedger,
  getFundingPayments,
  registerDeposit,
  getDeposits,
  getDeposit,
  requestWithdrawal,
  getWithdrawals,
  getOpenWithdrawals,
  getWithdrawal,
  getBridge,
  getReserves,
  submitDepositVotes,
  getDepositQueue,
  getLatestBlock,
  getBlock,
  getPreconfirm,
  getPreconfirmProof,
  getHonesty,
  getTime,
  getStatus,
  getOpenApi,
  getAsyncApi,
  getHealth,
  getReadiness,
];
