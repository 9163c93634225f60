/** A handler for each operation of the contract. */

import { ACCOUNT_HANDLERS } from "./account.js";
import { AUTH_HANDLERS } from "./auth.js";
import { BRIDGE_HANDLERS } from "./bridge.js";
import type { Handler } from "./handler.js";
import { MARKET_HANDLERS } from "./markets.js";
import { ORDER_HANDLERS } from "./orders.js";
import { SERVICE_HANDLERS } from "./service.js";

export const HANDLERS: readonly Handler[] = [
  ...AUTH_HANDLERS,
  ...MARKET_HANDLERS,
  ...ORDER_HANDLERS,
  ...ACCOUNT_HANDLERS,
  ...BRIDGE_HANDLERS,
  ...SERVICE_HANDLERS,
];
