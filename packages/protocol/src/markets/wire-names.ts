/** The words of the wire's enumerations. The order is that of the engine's codes, where it has any. */

export const TIMES_IN_FORCE = ["gtc", "ioc", "fok"] as const;
export const TRIGGERS = ["stop", "takeProfit"] as const;
export const SELF_TRADES = ["cancelResting", "cancelTaker", "cancelBoth"] as const;

export const CHAINS = ["ethereum", "arbitrum", "tron"] as const;
export const TOKENS = ["USDC", "USDT"] as const;
export const WITHDRAWAL_STATUSES = ["queued", "attested", "pending", "paid", "expired"] as const;
export const WITHDRAWAL_VERDICTS = ["signed", "pending", "paid", "unpaid"] as const;
export const VERDICTS = ["confirming", "credit", "reject", "reorged"] as const;
