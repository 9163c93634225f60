/**
 * Short messages that disappear after some seconds. Errors stay until they are dismissed or four newer ones
 * have come.
 */

import { Store, useStore } from "../state/store.js";
import { Icon } from "./icons.js";
import "./toasts.css";

export interface Toast {
  readonly id: number;
  readonly kind: "good" | "bad" | "info";
  readonly title: string;
  readonly text?: string | undefined;
  /** A toast with the same key is replaced. */
  readonly key?: string | undefined;
}

const SHOWN_MS = 6_000;
const MAX_SHOWN = 4;

export class Toasts {
  readonly list = new Store<readonly Toast[]>([], "immediate");
  private last = 0;

  show(kind: Toast["kind"], title: string, text?: string, key?: string): void {
    const id = ++this.last;
    const toast: Toast = { id, kind, title, text, key };
    this.list.update((list) =>
      newestOf([...list.filter((each) => key === undefined || each.key !== key), toast]),
    );
    if (kind !== "bad") setTimeout(() => this.close(id), SHOWN_MS);
  }

  close(id: number): void {
    this.list.update((list) => list.filter((toast) => toast.id !== id));
  }
}

/** Without the oldest that are too many; notices leave before errors, and the newest notice is shown. */
function newestOf(list: readonly Toast[]): readonly Toast[] {
  const errors = list.filter(({ kind }) => kind === "bad").slice(-MAX_SHOWN);
  const notices = list.filter(({ kind }) => kind !== "bad");
  const shown = new Set([...errors, ...notices.slice(-Math.max(1, MAX_SHOWN - errors.length))]);
  return list.filter((toast) => shown.has(toast));
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
        <strong>{toast.title}</strong>
        {toast.text !== undefined && <p>{toast.text}</p>}
      </div>
      <button type="button" className="button bare small" aria-label="Dismiss" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}
