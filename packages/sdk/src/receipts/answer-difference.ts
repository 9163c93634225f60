/** Compares the JSON that was answered with the leaf whose hash the receipt signs. */

import { readAnswerLeaf } from "@perpgate/protocol/core";
import {
  ackDifferences,
  type OpenedReceipt,
  proofMarketOf,
  sealedAcknowledgement,
} from "@perpgate/protocol/receipts";

/** What differs; null if nothing does, or the file lacks the leaf, the answer or the market's units. */
export function answerDifference({ file, receipt, leaf: bytes }: OpenedReceipt): string | null {
  const market = proofMarketOf(file.market);
  const { ack } = file;
  if (bytes === undefined || market === undefined || typeof ack !== "object" || ack === null) {
    return null;
  }
  const leaf = readAnswerLeaf(bytes);
  if (leaf === undefined) return "the leaf cannot be read";
  const sealed = sealedAcknowledgement(leaf, market);
  if (typeof sealed === "string") return sealed;
  const [first] = ackDifferences(sealed, ack);
  if (first !== undefined) return first.message;
  const time: unknown = Reflect.get(ack, "time");
  const { timeMs } = receipt.statement;
  return time === timeMs ? null : `time is ${timeMs} in the receipt, ${String(time)} here`;
}
