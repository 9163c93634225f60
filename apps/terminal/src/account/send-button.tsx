/** The button of a form in a dialog, and how its action is sent. */

import type { Session } from "@perpgate/sdk";
import { type ReactNode, useRef, useState } from "react";
import { useIsLive } from "../state/use-is-live.js";
import { useTerminal } from "../terminal.js";

/**
 * Sends once at a time. `onDone` runs if it succeeded; also if its outcome is unknown, because a form
 * that stays open asks to be sent again. A failure is reported by the terminal.
 */
export function useSend(onDone: () => void) {
  const terminal = useTerminal();
  const [isSending, setSending] = useState(false);
  const isBusy = useRef(false);
  const send = async (action: (session: Session) => Promise<unknown>) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    const outcome = await terminal.attempt(action);
    isBusy.current = false;
    setSending(false);
    if (outcome !== "failed") onDone();
  };
  return { isSending, send };
}

interface Props {
  readonly isReady: boolean;
  readonly isSending: boolean;
  readonly children: ReactNode;
}

export function SendButton({ isReady, isSending, children }: Props) {
  const isLive = useIsLive();
  return (
    <button
      type="submit"
      className="button primary wide"
      disabled={!isReady || isSending || !isLive}
    >
      {isSending ? "Sending…" : isLive ? children : "Reconnecting…"}
    </button>
  );
}
