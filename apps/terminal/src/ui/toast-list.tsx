import { useStore } from "../state/store.js";
import { Icon } from "./icons.js";
import type { Toast, Toasts } from "./toasts.js";
import "./toast-list.css";

/** The region is there from the start: screen readers announce changes of a region they know. */
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
