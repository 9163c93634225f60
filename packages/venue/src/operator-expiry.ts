/** How long after its stamp an operator command may still take effect. */
export const OPERATOR_EXPIRY_MS = 30_000;
