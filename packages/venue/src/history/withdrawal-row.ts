/**
 * A withdrawal as words of a change row; its texts are short:
 *
 *   nonce, amount, fee, asked for, deadline, status, ended, text chain, text token, text transaction
 */
import { textAt, textWords } from "./deposit-row.js";
import type { RowWords } from "./rows.js";

export interface WithdrawalRow {
  readonly nonce: number;
  readonly chain: string;
  readonly token: string;
  readonly amountMicros: number;
  readonly feeMicros: number;
  readonly requestedAtMs: number;
  readonly deadlineMs: number;
  /** An index into WITHDRAWAL_STATUSES. */
  readonly status: number;
  /** 0 while it is open. */
  readonly endedAtMs: number;
  /** Lower-case hex; empty for none. */
  readonly txHash: string;
  /** SHA-256 of the body that asked for it, lower-case hex. */
  readonly digest: string;
}

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
