/** The venue's record of its own promises, in the footer. */

import type { Honesty } from "@perpgate/protocol";
import { getHonesty } from "@perpgate/protocol/operations";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";

export function HonestyFigures() {
  const { honesty } = useTerminal();
  const record = useStore(honesty.record);
  if (record === undefined) return null;
  const { isKept, text, title } = summaryOf(record);
  return (
    <a
      className={isKept ? "honesty" : "honesty broken"}
      href={getHonesty.path}
      target="_blank"
      rel="noreferrer"
      title={title}
      data-testid="honesty"
    >
      {text}
    </a>
  );
}

const COUNT = new Intl.NumberFormat("en-US");

function summaryOf(record: Honesty): { isKept: boolean; text: string; title: string } {
  const { issued, sealed, notKept, checkpoint, conflict, sealedMs } = record;
  const witnesses = checkpoint?.witnesses.length ?? 0;
  const parts = [
    `${COUNT.format(sealed)} of ${COUNT.format(issued)} acknowledgements sealed where they were promised.`,
    sealedMs === null ? "" : `Half of them within ${sealedMs.p50} ms.`,
    checkpoint === null
      ? "No checkpoint yet."
      : `Checkpoint of ${COUNT.format(checkpoint.size)} blocks.`,
    witnesses === 0
      ? "No witness has cosigned it."
      : `Cosigned by ${checkpoint?.witnesses.join(", ")}.`,
  ];
  if (conflict !== null) {
    return { isKept: false, text: `Log in conflict: ${conflict}`, title: parts.join(" ") };
  }
  const text =
    notKept === 0
      ? `${COUNT.format(sealed)} promises kept`
      : `${COUNT.format(notKept)} promises broken`;
  const by = witnesses === 0 ? "" : `, ${witnesses} ${witnesses === 1 ? "witness" : "witnesses"}`;
  return { isKept: notKept === 0, text: text + by, title: parts.filter(Boolean).join(" ") };
}
