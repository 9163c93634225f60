/** The wire contract: `core`, and the schemas with their types. Operations have their own entry. */

export * from "./accounts/account.js";
export * from "./accounts/ledger.js";
export * from "./accounts/position.js";
export * from "./accounts/sign-in.js";
export * from "./blocks/block.js";
export * from "./blocks/honesty.js";
export * from "./blocks/preconfirm.js";
export * from "./bridge/attestation.js";
export * from "./bridge/attestor-requests.js";
export * from "./bridge/bridge.js";
export * from "./bridge/deposit.js";
export * from "./bridge/reserves.js";
export * from "./bridge/withdrawal.js";
export * from "./core.js";
export * from "./errors/error-body.js";
export * from "./http/paging.js";
export * from "./markets/book.js";
export * from "./markets/market.js";
export * from "./markets/market-catalog.js";
export * from "./markets/market-data.js";
export * from "./markets/venue-status.js";
export * from "./orders/extended-order.js";
export * from "./orders/fill.js";
export * from "./orders/order.js";
export * from "./text/scalar.js";
