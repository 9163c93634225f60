/** The one list of operations: routes, validation and the OpenAPI document all come from it. */

import type { Operation } from "./http/operation.js";
import { cancelAllOrders } from "./operations/cancel-all-orders.js";
import { cancelOrder } from "./operations/cancel-order.js";
import { cancelOrdersAfter } from "./operations/cancel-orders-after.js";
import { endSession } from "./operations/end-session.js";
import { getAccount } from "./operations/get-account.js";
import { getBlock } from "./operations/get-block.js";
import { getBook } from "./operations/get-book.js";
import { getBridge } from "./operations/get-bridge.js";
import { getCandles } from "./operations/get-candles.js";
import { getDeposit } from "./operations/get-deposit.js";
import { getDepositQueue } from "./operations/get-deposit-queue.js";
import { getDeposits } from "./operations/get-deposits.js";
import { getFills } from "./operations/get-fills.js";
import { getFunding } from "./operations/get-funding.js";
import { getHealth } from "./operations/get-health.js";
import { getMarkets } from "./operations/get-markets.js";
import { getNonce } from "./operations/get-nonce.js";
import { getOpenApi } from "./operations/get-openapi.js";
import { getOrder } from "./operations/get-order.js";
import { getOrders } from "./operations/get-orders.js";
import { getPositions } from "./operations/get-positions.js";
import { getPreconfirm } from "./operations/get-preconfirm.js";
import { getReadiness } from "./operations/get-readiness.js";
import { getTicker } from "./operations/get-ticker.js";
import { getTrades } from "./operations/get-trades.js";
import { placeOrder } from "./operations/place-order.js";
import { registerDeposit } from "./operations/register-deposit.js";
import { rotateSession } from "./operations/rotate-session.js";
import { signIn } from "./operations/sign-in.js";
import { submitDepositVotes } from "./operations/submit-deposit-votes.js";

export const OPERATIONS: readonly Operation[] = [
  getNonce,
  signIn,
  rotateSession,
  endSession,
  getMarkets,
  getBook,
  getTicker,
  getTrades,
  getCandles,
  getFunding,
  placeOrder,
  getOrders,
  getOrder,
  cancelOrder,
  cancelAllOrders,
  cancelOrdersAfter,
  getAccount,
  getPositions,
  getFills,
  registerDeposit,
  getDeposits,
  getDeposit,
  getBridge,
  submitDepositVotes,
  getDepositQueue,
  getBlock,
  getPreconfirm,
  getOpenApi,
  getHealth,
  getReadiness,
];
