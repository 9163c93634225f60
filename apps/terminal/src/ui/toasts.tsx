/**
 * Short messages that disappear: notices after some seconds, errors after half a minute. Alarms, such as a
 * liquidation, stay until they are dismissed or four newer ones have come.
 */

import { formatClock } from "../format/text.js";
import { Store, useStore } from "../state/store.js";
import { t } from "../text/texts.js";
import { Icon } from "./icons.js";
import "./toasts.css";

interface Toast {
  readonly id: number;
  readonly kind: "good" | "bad" | "info" | "alarm";
  /** Unix milliseconds, of this machine. */
  readonly time: number;
  readonly title: string;
  readonly text?: string | undefined;
  /** A toast with the same key is replaced. */
  readonly key?: string | undefined;
}

const SHOWN_MS: Readonly<Record<Exclude<Toast["kind"], "alarm">, number>> = {
  good: 6_000,
  info: 6_000,
  bad: 30_000,
};
const MAX_SHOWN = 4;

export class Toasts {
  readonly list = new Store<readonly Toast[]>([], "immediate");
  private last = 0;

  show(kind: Toast["kind"], title: string, text?: string, key?: string): void {
    const id = ++this.last;
    const toast: Toast = { id, kind, time: Date.now(), title, text, key };
    this.list.update((list) =>
      newestOf([...list.filter((each) => key === undefined || each.key !== key), toast]),
    );
    if (kind !== "alarm") setTimeout(() => this.close(id), SHOWN_MS[kind]);
  }

  close(id: number): void {
    this.list.update((list) => list.filter((toast) => toast.id !== id));
  }
}

/** Without the oldest that are too many: notices leave before errors, and errors before alarms. */
function newestOf(list: readonly Toast[]): readonly Toast[] {
  const [alarms, errors, notices] = [0, 1, 2].map((rank) =>
    list.filter(({ kind }) => rankOf(kind) === rank),
  );
  const shown = new Set(alarms?.slice(-MAX_SHOWN));
  // The newest of each is shown in any case.
  for (const some of [errors, notices]) {
    for (const toast of some?.slice(-Math.max(1, MAX_SHOWN - shown.size)) ?? []) shown.add(toast);
  }
  return list.filter((toast) => shown.has(toast));
}

function rankOf(kind: Toast["kind"]): number {
  if (kind === "alarm") return 0;
  return kind === "bad" ? 1 : 2;
}

/** Always rendered: screen readers announce changes only in a region that exists already. */
export function ToastList({ toasts }: { readonly toasts: Toasts }) {
  const list = useStore(toasts.list);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((toast) => (
        <ToastCard key={toast.id} toast={toast} onClose={() => toasts.close(toast.id)} />
      ))}
    </div>
  );
}

function ToastCard({ toast, onClose }: { readonly toast: Toast; readonly onClose: () => void }) {
  return (
    <div className={`toast ${toast.kind}`}>
      <div>
        <strong>{toast.title}</strong> <time className="faint">{formatClock(toast.time)}</time>
        {toast.text !== undefined && <p>{toast.text}</p>}
      </div>
      <button
        type="button"
        className="button bare small"
        aria-label={t.words.dismiss}
        onClick={onClose}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
