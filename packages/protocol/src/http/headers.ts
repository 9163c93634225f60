/** Headers of the REST interface, in lower case. */

/** The session key's signature over the body. */
export const SIGNATURE_HEADER = "x-service-sig";
/** Of a response: how far the log is applied at this gateway. */
export const POSITION_HEADER = "perpgate-position";
/** Of a list: the first log position whose rows are kept, where older ones belong to the page. */
export const HISTORY_HEADER = "perpgate-history-before";
/** Of a request: how far the log must be applied before it is answered. */
export const MIN_POSITION_HEADER = "perpgate-min-position";
