/** Headers of the REST interface, in lower case. */

/** The session key's signature over the body. */
export const SIGNATURE_HEADER = "x-service-sig";
/** Of a response: how far the log is applied at this gateway. */
export const POSITION_HEADER = "perpgate-position";
/** Of a request: how far the log must be applied before it is answered. */
export const MIN_POSITION_HEADER = "perpgate-min-position";
