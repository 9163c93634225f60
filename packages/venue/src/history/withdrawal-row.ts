/**
 * A withdrawal as words of a change row; its texts are short:
 *
 *   nonce, amount, fee, asked for, deadline, status, ended, text chain, text token, text transaction
 */
import { textAt, textWords } from "./deposit-row.js";
import type { RowWords } from "./rows.js";
import type { WithdrawalRow } from "./withdrawal-projection.js";

/** What a stream shows of one. */
export type ShownWithdrawal = Omit<WithdrawalRow, "digest">;

const TEXTS = 7;

export function withdrawalWords(row: WithdrawalRow): number[] {
  const { nonce, amountMicros, feeMicros, requestedAtMs, deadlineMs, status, endedAtMs } = row;
  const { chain, token, txHash } = row;
  return [
    ...[nonce, amountMicros, feeMicros, requestedAtMs, deadlineMs, status, endedAtMs],
    ...[chain, token, txHash].flatMap(textWords),
  ];
}

export function withdrawalOfWords(words: RowWords): ShownWithdrawal {
  const tokenAt = TEXTS + 1 + words[TEXTS]!;
  const txHashAt = tokenAt + 1 + words[tokenAt]!;
  return {
    nonce: words[0]!,
    amountMicros: words[1]!,
    feeMicros: words[2]!,
    requestedAtMs: words[3]!,
    deadlineMs: words[4]!,
    status: words[5]!,
    endedAtMs: words[6]!,
    chain: textAt(words, TEXTS),
    token: textAt(words, tokenAt),
    txHash: textAt(words, txHashAt),
  };
}
