/** A small button that is disabled while its action runs, and unless the line to the venue is live. */

import { type ReactNode, useRef, useState } from "react";
import { useIsLive } from "../state/use-is-live.js";
import { t } from "../text/texts.js";

interface ActionButtonProps {
  /** For screen readers. */
  readonly label?: string;
  readonly children: ReactNode;
  /** Shown while the action runs. */
  readonly busyText?: string;
  /** Enter in a field of its form presses it. */
  readonly isSubmit?: boolean;
  /** Why it cannot be done now. */
  readonly why?: string | undefined;
  readonly act: () => Promise<unknown>;
}

export function ActionButton({ label, children, busyText, isSubmit, why, act }: ActionButtonProps) {
  const isLive = useIsLive();
  const [isBusy, setBusy] = useState(false);
  const isPressed = useRef(false);
  const press = async () => {
    if (isPressed.current) return;
    isPressed.current = true;
    setBusy(true);
    try {
      await act();
    } finally {
      isPressed.current = false;
      setBusy(false);
    }
  };
  return (
    <button
      type={isSubmit === true ? "submit" : "button"}
      className="button small"
      disabled={isBusy || !isLive || why !== undefined}
      title={isLive ? why : t.words.lineDown}
      aria-label={label}
      onClick={() => void press()}
    >
      {isBusy ? (busyText ?? children) : children}
    </button>
  );
}
