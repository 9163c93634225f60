/**
 * The part of the contract without schemas: units, arithmetic, keys, hashes, rules, the error table.
 * It does not load TypeBox, which takes eight times as long as all of this.
 */

export * from "./acknowledgement-leaf.js";
export * from "./average-price.js";
export * from "./block-header.js";
export * from "./book-codec/index.js";
export * from "./client-order-id.js";
export * from "./end-session-text.js";
export * from "./error.js";
export * from "./error-table.js";
export * from "./ethereum-address.js";
export * from "./fetch-within.js";
export * from "./headers.js";
export * from "./hex.js";
export * from "./integers.js";
export * from "./json-bounds.js";
export * from "./liquidation-mark.js";
export * from "./merkle-path.js";
export * from "./order-fields.js";
export * from "./order-id.js";
export * from "./patterns.js";
export * from "./rules.js";
export * from "./sealed-acknowledgement.js";
export * from "./session-key.js";
export * from "./shown-text.js";
export * from "./signing.js";
export * from "./siwe-text.js";
export * from "./streams.js";
export * from "./strict-json.js";
export * from "./symbol.js";
export * from "./token-bucket.js";
export * from "./units.js";
export * from "./vote.js";
export * from "./vote-text.js";
export * from "./wire-names.js";
export * from "./withdrawal-leaf.js";
export * from "./withdrawal-vote.js";
