/** The wire contract: `core`, and the schemas with their types. Operations have their own entry. */

export * from "./account.js";
export * from "./attestation.js";
export * from "./attestor-requests.js";
export * from "./block.js";
export * from "./book.js";
export * from "./bridge.js";
export * from "./core.js";
export * from "./deposit.js";
export * from "./error-body.js";
export * from "./extended-order.js";
export * from "./fill.js";
export * from "./honesty.js";
export * from "./ledger.js";
export * from "./market.js";
export * from "./market-catalog.js";
export * from "./market-data.js";
export * from "./order.js";
export * from "./paging.js";
export * from "./position.js";
export * from "./preconfirm.js";
export * from "./scalar.js";
export * from "./sign-in.js";
export * from "./venue-status.js";
export * from "./withdrawal.js";
