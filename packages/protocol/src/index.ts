/** The wire contract in one import; each concept is also a subpath of its own. */

export * from "./account.js";
export * from "./block.js";
export * from "./book.js";
export * from "./book-codec/index.js";
export * from "./deposit.js";
export * from "./error.js";
export * from "./error-table.js";
export * from "./fill.js";
export * from "./hex.js";
export * from "./integers.js";
export * from "./market.js";
export * from "./market-catalog.js";
export * from "./market-data.js";
export * from "./order.js";
export * from "./paging.js";
export * from "./position.js";
export * from "./preconfirm.js";
export * from "./scalar.js";
export * from "./session-key.js";
export * from "./sign-in.js";
export * from "./signing.js";
export * from "./stream-messages.js";
export * from "./streams.js";
export * from "./strict-json.js";
export * from "./symbol.js";
export * from "./units.js";
