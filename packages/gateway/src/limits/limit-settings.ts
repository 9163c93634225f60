/** Settings of the limits, with defaults. */

export interface LimitSettings {
  /** Per account. */
  readonly ordersPerSecond: number;
  readonly ordersBurst: number;
  /** Per account, separate from orders, so that orders cannot use up the cancels. */
  readonly cancelsPerSecond: number;
  readonly cancelsBurst: number;
  /** Per account: reads with a token. */
  readonly accountReadsPerSecond: number;
  readonly accountReadsBurst: number;
  /** Per account. */
  readonly depositsPerMinute: number;
  /** Per session: signatures that do not verify. */
  readonly failedSignaturesPerMinute: number;
  readonly failedSignaturesBurst: number;
  /** Open deposits per account that no attestor has seen on their chain. */
  readonly unseenDeposits: number;
  /** Registrations of deposits per client address, of all accounts. */
  readonly addressDepositsPerMinute: number;
  /** First sign-ins per client address, while the `dev` attestor credits new accounts. */
  readonly newAccountsPerMinute: number;
  readonly newAccountsBurst: number;
  /** Requests of remote attestors per client address. */
  readonly attestorRequestsPerSecond: number;
  readonly attestorRequestsBurst: number;
  /** Per client address. */
  readonly signInsPerSecond: number;
  readonly failedSignInsPerMinute: number;
  readonly readsPerSecond: number;
  readonly readsBurst: number;
  /** Per client address: milliseconds of processor time per second, and the burst. */
  readonly costMsPerSecond: number;
  readonly costBurstMs: number;
  /** Per client address, for cancels and reductions of live sessions only. */
  readonly reserveMsPerSecond: number;
  readonly reserveBurstMs: number;
  /** Per account, over all its addresses. */
  readonly accountCostMsPerSecond: number;
  readonly accountCostBurstMs: number;
  /** Bytes of an order or a rotation, which the log stores completely; a plain order has about 150. */
  readonly signedBytes: number;
  /** Bytes of a batch. */
  readonly batchBytes: number;
  /** Orders in flight in this process, above which new ones are refused. */
  readonly pendingOrders: number;
}

export const DEFAULT_LIMITS: LimitSettings = {
  ordersPerSecond: 100,
  ordersBurst: 200,
  cancelsPerSecond: 100,
  cancelsBurst: 200,
  accountReadsPerSecond: 50,
  accountReadsBurst: 200,
  depositsPerMinute: 10,
  failedSignaturesPerMinute: 60,
  failedSignaturesBurst: 10,
  unseenDeposits: 100,
  addressDepositsPerMinute: 60,
  newAccountsPerMinute: 10,
  newAccountsBurst: 200,
  attestorRequestsPerSecond: 50,
  attestorRequestsBurst: 200,
  signInsPerSecond: 10,
  failedSignInsPerMinute: 10,
  readsPerSecond: 100,
  readsBurst: 200,
  costMsPerSecond: 120,
  costBurstMs: 100,
  reserveMsPerSecond: 30,
  reserveBurstMs: 30,
  accountCostMsPerSecond: 120,
  accountCostBurstMs: 100,
  signedBytes: 4_096,
  batchBytes: 16_384,
  pendingOrders: 1_024,
};

/** Where one address sends everything: tests of anything but limits, the sandbox. */
export const UNLIMITED: LimitSettings = {
  ...DEFAULT_LIMITS,
  ordersPerSecond: 1e6,
  ordersBurst: 1e6,
  cancelsPerSecond: 1e6,
  cancelsBurst: 1e6,
  accountReadsPerSecond: 1e6,
  accountReadsBurst: 1e6,
  depositsPerMinute: 1e6,
  addressDepositsPerMinute: 1e6,
  newAccountsPerMinute: 1e6,
  newAccountsBurst: 1e6,
  attestorRequestsPerSecond: 1e6,
  attestorRequestsBurst: 1e6,
  costMsPerSecond: 1e6,
  costBurstMs: 1e6,
  accountCostMsPerSecond: 1e6,
  accountCostBurstMs: 1e6,
  readsPerSecond: 1e6,
  readsBurst: 1e9,
  signInsPerSecond: 1e9,
  failedSignInsPerMinute: 1e9,
  failedSignaturesPerMinute: 1e9,
  failedSignaturesBurst: 1e9,
};
