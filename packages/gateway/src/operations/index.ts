/** A handler for each operation of the contract. */

import { OPERATIONS } from "@perpgate/protocol/operations";
import { AUTH_HANDLERS } from "./auth.js";
import { BRIDGE_HANDLERS } from "./bridge.js";
import { type Handler, handleRead } from "./handler.js";
import { MARKET_HANDLERS } from "./markets.js";
import { ORDER_HANDLERS } from "./orders.js";
import { SERVICE_HANDLERS } from "./service.js";

const WRITTEN: readonly Handler[] = [
  ...AUTH_HANDLERS,
  ...MARKET_HANDLERS,
  ...ORDER_HANDLERS,
  ...BRIDGE_HANDLERS,
  ...SERVICE_HANDLERS,
];

/** The operations that are not written are reads of the core. */
export const HANDLERS: readonly Handler[] = OPERATIONS.map(
  (each) => WRITTEN.find(({ operation }) => operation === each) ?? handleRead(each),
);
