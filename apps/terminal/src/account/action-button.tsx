/** A small button that is disabled while its action runs. */

import { type ReactNode, useState } from "react";

interface ActionButtonProps {
  /** For screen readers. */
  readonly label?: string;
  readonly children: ReactNode;
  /** Shown while the action runs. */
  readonly busyText?: string;
  readonly act: () => Promise<unknown>;
}

export function ActionButton({ label, children, busyText, act }: ActionButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    try {
      await act();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      className="button small"
      disabled={isBusy}
      aria-label={label}
      onClick={() => void press()}
    >
      {isBusy ? (busyText ?? children) : children}
    </button>
  );
}
