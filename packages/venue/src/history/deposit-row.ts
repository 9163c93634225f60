/**
 * A deposit's state as words of a row: what a change to it shows, then and later. Texts are short
 * snake_case words and take one word a letter.
 *
 *   token, status, confirmations, required, text reason, text reorged, account micros log …
 *
 * To the status SETTLED_REORG is added where a reorganisation is settled. A credit's log is its
 * index, plus LOG_INDEXES for each place of its token: 0 for the token of the registration, then
 * USDC, then USDT. Rows of before have neither and read as they always did.
 */
import type { Deposit } from "@perpgate/engine/reading";

/** What about a deposit changes. */
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

/** Numbers of these are part of the store's format. */
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

export function depositOfWords(words: Float64Array): DepositState {
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
    // When it was settled is the engine's; a row knows only whether.
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

function textAt(words: Float64Array, at: number): string {
  return String.fromCharCode(...words.subarray(at + 1, at + 1 + words[at]!));
}
