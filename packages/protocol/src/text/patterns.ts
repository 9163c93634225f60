/** The patterns of strings on the wire, and in words what each asks for. */

import { SESSION_KEY_PATTERN } from "../accounts/session-key.js";
import { SYMBOL_PATTERN } from "../markets/symbol.js";
import { CLIENT_ORDER_ID_PATTERN } from "../orders/client-order-id.js";
import { ORDER_ID_PATTERN } from "../orders/order-id.js";

export const LOG_POSITION_PATTERN = "^(0|[1-9][0-9]{0,15})$";
/** The id of an order, or the client's own. */
export const ORDER_NAME_PATTERN = "^([A-Za-z0-9_-]{1,36}|[1-9][0-9]{0,15}\\.[12])$";
export const HEX_32_PATTERN = "^0x[0-9a-f]{64}$";
export const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";
export const ENTRY_ID_PATTERN = "^[0-9]{1,16}(-[0-9]{1,10})?$";

/** For error messages: a regular expression tells a user nothing. */
export const PATTERN_WORDS: ReadonlyMap<string, string> = new Map([
  [SYMBOL_PATTERN, "a market's symbol such as BTCUSD: 2 to 24 capital letters and digits"],
  [LOG_POSITION_PATTERN, "a whole number in decimal, such as 48213"],
  [ORDER_ID_PATTERN, "the id of an order such as 48213, or of one of its exits such as 48213.1"],
  [ORDER_NAME_PATTERN, "the id of an order such as 48213, or your own"],
  [HEX_32_PATTERN, "0x and 64 lower-case hex digits"],
  [ADDRESS_PATTERN, "an Ethereum address: 0x and 40 hex digits"],
  [ENTRY_ID_PATTERN, "the id of an entry such as 48213-1"],
  [CLIENT_ORDER_ID_PATTERN, "1 to 36 letters, digits, _ or -"],
  [
    SESSION_KEY_PATTERN,
    "a public key in hex: 32 bytes for Ed25519; 33, 64 or 65 bytes for secp256k1",
  ],
]);
