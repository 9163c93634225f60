/**
 * A deposit's state as words of a change row. Texts are short snake_case names: their length, then one
 * word per letter.
 *
 *   token, status, confirmations, required, text reason, text reorged, account micros log …
 *
 * SETTLED_REORG is added to the status if a reorganisation was settled. A credit's log word is its log
 * index plus LOG_INDEXES × n: n = 0 for the token of the registration, 1 for USDC, 2 for USDT.
 *
 * Of more than MAX_CREDITS credits only their number is stored, and COUNTED is added to the status:
 * every account that is credited has a row, so N of them would take N² words. The engine keeps the
 * credits of a deposit in order and removes none.
 */
import type { DepositRecord } from "@perpgate/engine/reading";
import type { RowWords } from "./rows.js";

/** The fields of a deposit that change. */
export type DepositState = Pick<
  DepositRecord,
  | "token"
  | "status"
  | "confirmations"
  | "required"
  | "reason"
  | "reorged"
  | "reorgSettledAtMs"
  | "credits"
>;

type Credit = DepositState["credits"][number];

/** The indexes are part of the store's format. */
const TOKENS: readonly string[] = ["USDC", "USDT"];
const STATUSES: readonly DepositRecord["status"][] = [
  "queued",
  "confirming",
  "credited",
  "rejected",
];
const CREDIT_WORDS = 3;
const SETTLED_REORG = 8;
const COUNTED = 16;
const MAX_CREDITS = 16;
const LOG_INDEXES = 2 ** 40;

export function depositWords(deposit: DepositState): number[] {
  const { credits, reorgSettledAtMs } = deposit;
  const isCounted = credits.length > MAX_CREDITS;
  const flags = (reorgSettledAtMs === 0 ? 0 : SETTLED_REORG) + (isCounted ? COUNTED : 0);
  return [
    TOKENS.indexOf(deposit.token),
    STATUSES.indexOf(deposit.status) + flags,
    deposit.confirmations,
    deposit.required,
    ...textWords(deposit.reason),
    ...textWords(deposit.reorged),
    ...(isCounted ? [credits.length] : credits.flatMap(creditWords)),
  ];
}

function creditWords({ account, amountMicros, logIndex, token }: Credit): number[] {
  return [account, amountMicros, logIndex + LOG_INDEXES * (1 + TOKENS.indexOf(token))];
}

/** `credits` are those that the engine has, at this row or later. */
export function depositOfWords(words: RowWords, credits: DepositState["credits"]): DepositState {
  const { reasonAt, reorgedAt, creditsAt } = placesIn(words);
  const flags = words[1]! - (words[1]! % SETTLED_REORG);
  return {
    token: TOKENS[words[0]!] ?? "",
    status: STATUSES[words[1]! % SETTLED_REORG] ?? "queued",
    confirmations: words[2]!,
    required: words[3]!,
    reason: textAt(words, reasonAt),
    reorged: textAt(words, reorgedAt),
    // A row stores only whether it was settled; the engine has the time.
    reorgSettledAtMs: (flags & SETTLED_REORG) === 0 ? 0 : 1,
    credits:
      (flags & COUNTED) === 0
        ? creditsOfWords(words.slice(creditsAt))
        : credits.slice(0, words[creditsAt]),
  };
}

function placesIn(words: RowWords) {
  const reasonAt = 4;
  const reorgedAt = reasonAt + 1 + words[reasonAt]!;
  return { reasonAt, reorgedAt, creditsAt: reorgedAt + 1 + words[reorgedAt]! };
}

function creditsOfWords(words: RowWords): Credit[] {
  return Array.from({ length: words.length / CREDIT_WORDS }, (_, i) => {
    const at = i * CREDIT_WORDS;
    const log = words[at + 2]!;
    return {
      account: words[at]!,
      amountMicros: words[at + 1]!,
      logIndex: log % LOG_INDEXES,
      token: TOKENS[Math.floor(log / LOG_INDEXES) - 1] ?? "",
    };
  });
}

export function textWords(text: string): number[] {
  return [text.length, ...Array.from(text, (letter) => letter.charCodeAt(0))];
}

export function textAt(words: RowWords, at: number): string {
  return String.fromCharCode(...words.slice(at + 1, at + 1 + words[at]!));
}
