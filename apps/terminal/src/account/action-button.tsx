/** A small button of a table: what it started must end before it can be pressed again. */

import { type ReactNode, useState } from "react";

interface ActionButtonProps {
  /** For those who do not see the row it stands in. */
  readonly label?: string;
  readonly children: ReactNode;
  /** What it shows meanwhile, if not the same. */
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
