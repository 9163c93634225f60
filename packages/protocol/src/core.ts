/**
 * The part of the contract without schemas: units, arithmetic, keys, hashes, rules, the error table.
 * It does not load TypeBox, which takes eight times as long as all of this.
 */

export * from "./accounts/ethereum-address.js";
export * from "./accounts/session-key.js";
export * from "./accounts/signing.js";
export * from "./accounts/siwe-text.js";
export * from "./blocks/acknowledgement-leaf.js";
export * from "./blocks/answer-leaf.js";
export * from "./blocks/block-header.js";
export * from "./blocks/cancel-leaf.js";
export * from "./blocks/merkle-path.js";
export * from "./blocks/sealed-acknowledgement.js";
export * from "./book-codec/index.js";
export * from "./bridge/holdings.js";
export * from "./bridge/reserves-leaf.js";
export * from "./bridge/vote.js";
export * from "./bridge/vote-text.js";
export * from "./bridge/withdrawal-leaf.js";
export * from "./bridge/withdrawal-vote.js";
export * from "./errors/error.js";
export * from "./errors/error-table.js";
export * from "./http/fetch-within.js";
export * from "./http/headers.js";
export * from "./http/token-bucket.js";
export * from "./markets/maintenance.js";
export * from "./markets/rules.js";
export * from "./markets/symbol.js";
export * from "./markets/wire-names.js";
export * from "./numbers/integers.js";
export * from "./numbers/units.js";
export * from "./orders/client-order-id.js";
export * from "./orders/order-fields.js";
export * from "./orders/order-id.js";
export * from "./streams/streams.js";
export * from "./text/hex.js";
export * from "./text/json-bounds.js";
export * from "./text/patterns.js";
export * from "./text/shown-text.js";
export * from "./text/strict-json.js";
