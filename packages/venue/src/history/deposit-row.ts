/**
 * A deposit's state as words of a change row. Texts are short snake_case names: their length, then one
 * word per letter.
 *
 *   token, status, confirmations, required, text reason, text reorged, account micros log …
 *
 * SETTLED_REORG is added to the status if a reorganisation was settled. A credit's log word is its log
 * index plus LOG_INDEXES × n: n = 0 for the token of the registration, 1 for USDC, 2 for USDT. Rows
 * from before these additions decode unchanged.
 */
import type { Deposit } from "@perpgate/engine/reading";
import type { RowWords } from "./rows.js";

/** The fields of a deposit that change. */
export type DepositState = Pick<
  Deposit,
  | "token"
  | "status"
  | "confirmations"
  | "required"
  | "reason"
  | "reorged"
  | "reorgSettledAtMs"
  | "credits"
>;

/** The indexes are part of the store's format. */
const TOKENS: readonly string[] = ["USDC", "USDT"];
const STATUSES: readonly Deposit["status"][] = ["queued", "confirming", "credited", "rejected"];
const CREDIT_WORDS = 3;
const SETTLED_REORG = 8;
const LOG_INDEXES = 2 ** 40;

export function depositWords(deposit: DepositState): number[] {
  return [
    TOKENS.indexOf(deposit.token),
    STATUSES.indexOf(deposit.status) + (deposit.reorgSettledAtMs === 0 ? 0 : SETTLED_REORG),
    deposit.confirmations,
    deposit.required,
    ...textWords(deposit.reason),
    ...textWords(deposit.reorged),
    ...deposit.credits.flatMap(({ account, amountMicros, logIndex, token }) => [
      account,
      amountMicros,
      logIndex + LOG_INDEXES * (1 + TOKENS.indexOf(token)),
    ]),
  ];
}

export function depositOfWords(words: RowWords): DepositState {
  const reasonAt = 4;
  const reorgedAt = reasonAt + 1 + words[reasonAt]!;
  const creditsAt = reorgedAt + 1 + words[reorgedAt]!;
  const count = (words.length - creditsAt) / CREDIT_WORDS;
  return {
    token: TOKENS[words[0]!] ?? "",
    status: STATUSES[words[1]! % SETTLED_REORG] ?? "queued",
    confirmations: words[2]!,
    required: words[3]!,
    reason: textAt(words, reasonAt),
    reorged: textAt(words, reorgedAt),
    // A row stores only whether it was settled; the engine has the time.
    reorgSettledAtMs: words[1]! >= SETTLED_REORG ? 1 : 0,
    credits: Array.from({ length: count }, (_, i) => {
      const at = creditsAt + i * CREDIT_WORDS;
      const log = words[at + 2]!;
      return {
        account: words[at]!,
        amountMicros: words[at + 1]!,
        logIndex: log % LOG_INDEXES,
        token: TOKENS[Math.floor(log / LOG_INDEXES) - 1] ?? "",
      };
    }),
  };
}

function textWords(text: string): number[] {
  return [text.length, ...Array.from(text, (letter) => letter.charCodeAt(0))];
}

function textAt(words: RowWords, at: number): string {
  return String.fromCharCode(...words.slice(at + 1, at + 1 + words[at]!));
}
