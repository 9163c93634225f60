/** The venue's record of its own promises, in the footer. */

import type { Honesty } from "@perpgate/protocol";
import { getHonesty } from "@perpgate/protocol/operations";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";

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
    t.honesty.sealed(COUNT.format(sealed), COUNT.format(issued)),
    sealedMs === null ? "" : t.honesty.half(sealedMs.p50),
    checkpoint === null
      ? t.honesty.noCheckpoint
      : t.honesty.checkpoint(COUNT.format(checkpoint.size)),
    witnesses === 0
      ? t.honesty.noWitness
      : t.honesty.cosigned(checkpoint?.witnesses.join(", ") ?? ""),
  ];
  if (conflict !== null) {
    return { isKept: false, text: t.honesty.conflict(conflict), title: parts.join(" ") };
  }
  const text =
    notKept === 0 ? t.honesty.kept(COUNT.format(sealed)) : t.honesty.broken(COUNT.format(notKept));
  const by = witnesses === 0 ? "" : `, ${countOf(witnesses, t.counts.witnesses)}`;
  return { isKept: notKept === 0, text: text + by, title: parts.filter(Boolean).join(" ") };
}
