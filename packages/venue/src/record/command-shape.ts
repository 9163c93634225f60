/**
 * The shapes of commands as they are in the log. A record of another shape was written by no release:
 * every replica drops its batch. Without this check it could stop all of them.
 */
import type { CommandKind } from "@perpgate/engine";
import { isOrderId } from "@perpgate/protocol/core";
import { hasFields, isHexOf, isInteger, isListOf, isOptional } from "../stored-json.js";

type Check = (field: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

/** Without unpaired surrogates, which UTF-8, and so a snapshot, replaces by another character. */
const isText: Check = (field) => typeof field === "string" && !/\p{Surrogate}/u.test(field);
const isFlag: Check = (field) => typeof field === "boolean";
const isObject: Check = (field) => typeof field === "object" && field !== null;
const isKey = isHexOf(64);
const isAddress = isHexOf(40);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (field) =>
    values.includes(field);
const shaped =
  (shape: Shape): Check =>
  (field) =>
    hasFields(field, shape);

/** The engine judges the values; a snapshot can keep whole numbers and texts alone. */
const isTier = shaped({ upToMicros: isInteger, maxLeverage: isInteger, maintenancePpm: isInteger });
const isMarket = shaped({
  symbol: isText,
  microsPerTickLot: isInteger,
  tiers: isListOf(isTier),
  takerFeePpm: isInteger,
  makerFeePpm: isInteger,
  bandPpm: isInteger,
  impactNotionalMicros: isInteger,
  minNotionalMicros: isInteger,
  maxOpenInterestMicros: isInteger,
  maxIndexJumpPpm: isInteger,
});
const isConfig = shaped({
  markets: isListOf(isMarket),
  fundSeedMicros: isInteger,
  backstopCapMicros: isInteger,
  fundLossPerHourPpm: isInteger,
  maxOpenOrders: isInteger,
  attestorKind: oneOf("dev", "chain"),
  attestors: isInteger,
  attestorQuorum: isInteger,
  devCreditMicros: isInteger,
  withdrawals: isOptional(
    shaped({
      minMicros: isInteger,
      feeMicros: isInteger,
      accountDayMicros: isInteger,
      venueHourMicros: isInteger,
      venueDayMicros: isInteger,
      lifeMs: isInteger,
      chains: isListOf(
        shaped({
          chain: isText,
          chainId: isInteger,
          tokens: isListOf(isText),
          maxUnpaidMicros: isInteger,
        }),
      ),
    }),
  ),
});
/** An older release begins a log with other figures, and the engine says so. */
const isFirstConfig = shaped({ markets: isListOf(isObject) });
const OPERATOR: Shape = { stampMs: isInteger, expiresAtMs: isInteger };
const OF_SESSION: Shape = { stampMs: isInteger, session: isInteger };
const request = isOptional(shaped({ id: isHexOf(32), notAfterMs: isInteger }));
const SIGNED: Shape = { ...OF_SESSION, key: isKey, nonce: isInteger, market: isInteger };
const batch = isOptional(
  shaped({ index: isInteger, count: isInteger, key: isKey, nonce: isInteger }),
);
const extras = isOptional(
  shaped({
    sizeLots: isInteger,
    timeInForce: oneOf(0, 1, 2),
    expiresAtMs: isInteger,
    clientOrderId: isText,
    trigger: oneOf(0, 1),
    limitTicks: isInteger,
    closePosition: isFlag,
    selfTrade: oneOf(0, 1, 2),
    validUntilMs: isInteger,
  }),
);
const exits = isOptional(
  shaped({
    takeProfitTicks: isInteger,
    takeProfitLimitTicks: isInteger,
    stopLossTicks: isInteger,
    stopLossLimitTicks: isInteger,
  }),
);
const isCredit = shaped({
  address: isText,
  amountMicros: isInteger,
  logIndex: isInteger,
  token: isOptional(isText),
});
const isVersions: Check = (field) =>
  Array.isArray(field) && field.length === 2 && field.every(isInteger);
const isCohort = isText;
const isOrder: Check = (field) => isInteger(field) || isOrderId(field);

const SHAPES: Readonly<Record<CommandKind, Shape>> = {
  Genesis: { stampMs: isInteger, config: isFirstConfig, cohort: isCohort },
  Configure: {
    ...OPERATOR,
    config: isConfig,
    replacedAttestors: isOptional(isListOf(isInteger)),
    movedChains: isOptional(isListOf(isText)),
  },
  Upgrade: { ...OPERATOR, version: isInteger },
  Tick: { slot: isInteger },
  WriterJoined: {
    stampMs: isInteger,
    writer: isHexOf(32),
    name: isText,
    versions: isVersions,
    receiptKey: isText,
    certificate: isText,
  },
  CoreLeads: {
    stampMs: isInteger,
    epoch: isInteger,
    run: isHexOf(32),
    core: isText,
    versions: isVersions,
    receiptKey: isText,
    certificate: isText,
  },
  WriterLeft: { stampMs: isInteger },
  AskTime: { stampMs: isInteger },
  UpdateIndex: {
    stampMs: isInteger,
    market: isInteger,
    indexTicks: isInteger,
    slot: isInteger,
  },
  OpenSession: {
    stampMs: isInteger,
    address: isAddress,
    key: isKey,
    tokenHash: isKey,
    expiresAtMs: isInteger,
    siweNonce: isText,
    siweNonceUntilMs: isInteger,
    maxOrderNotionalMicros: isInteger,
    maxNotionalMicros: isInteger,
    markets: isListOf(isInteger),
    contractChainId: isOptional(isInteger),
    request,
  },
  RotateSession: { ...OF_SESSION, oldKey: isKey, newKey: isKey, request },
  CloseSession: { ...OF_SESSION, request },
  SetSessionOption: { ...OF_SESSION, cancelOnDisconnect: isFlag, request },
  SessionConnected: OF_SESSION,
  SessionDisconnected: OF_SESSION,
  PlaceOrder: {
    ...SIGNED,
    side: oneOf(1, -1),
    type: oneOf(0, 1, 2),
    marginMicros: isInteger,
    leverage: isInteger,
    priceTicks: isInteger,
    reduceOnly: isFlag,
    postOnly: isFlag,
    extras,
    exits,
    batch,
  },
  AmendOrder: {
    ...SIGNED,
    orderId: isOrder,
    clientOrderId: isText,
    priceTicks: isInteger,
    sizeLots: isInteger,
    limitTicks: isInteger,
    expiresAtMs: isInteger,
    validUntilMs: isInteger,
    batch,
  },
  ChangeMargin: { ...SIGNED, amountMicros: isInteger },
  CancelOrder: {
    ...OF_SESSION,
    orderId: isOrder,
    clientOrderId: isOptional(isText),
    validUntilMs: isOptional(isInteger),
    batch,
    request,
  },
  CancelAll: { ...OF_SESSION, market: isInteger, request },
  CancelAfter: { ...OF_SESSION, afterMs: isInteger, request },
  SetCohort: {
    ...OPERATOR,
    stage: isCohort,
    allow: isListOf(isAddress),
    disallow: isListOf(isAddress),
  },
  ControlMarket: { ...OPERATOR, market: isInteger, action: isText, priceTicks: isInteger },
  RegisterDeposit: { ...OF_SESSION, chain: isText, txHash: isText, token: isText, request },
  AttestDeposit: {
    stampMs: isInteger,
    attestor: isInteger,
    depositId: isInteger,
    verdict: oneOf("confirming", "credit", "reject", "reorged"),
    votedAtMs: isInteger,
    confirmations: isInteger,
    required: isInteger,
    credits: isListOf(isCredit),
    reason: isText,
    part: isOptional(isInteger),
    parts: isOptional(isInteger),
  },
  PauseDeposits: { ...OPERATOR, scope: isText, isPaused: isFlag },
  RejudgeDeposit: { ...OPERATOR, depositId: isInteger },
  SettleReorgedDeposit: { ...OPERATOR, depositId: isInteger },
  Withdraw: {
    ...OF_SESSION,
    key: isKey,
    nonce: isInteger,
    chain: isText,
    token: isText,
    amountMicros: isInteger,
  },
  AttestWithdrawal: {
    stampMs: isInteger,
    attestor: isInteger,
    withdrawalId: isInteger,
    verdict: oneOf("signed", "pending", "paid", "unpaid"),
    votedAtMs: isInteger,
    txHash: isText,
    vaultSignature: isText,
  },
  CountReserves: OPERATOR,
  CommitReserves: {
    stampMs: isInteger,
    position: isInteger,
    root: isHexOf(64),
    sumMicros: isInteger,
    leaves: isInteger,
  },
};

const SHAPE_OF = new Map<string, Shape>(Object.entries(SHAPES));

/** Whether the value has the shape of its kind. A kind that this release does not know passes. */
export function hasCommandShape(value: unknown): boolean {
  if (!hasFields(value, { kind: isText })) return false;
  const { kind }: { kind?: unknown } = value;
  const shape = SHAPE_OF.get(String(kind));
  return shape === undefined || hasFields(value, shape);
}
