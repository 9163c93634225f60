/** The button of a form in a dialog, how its action is sent, and why it failed. */

import type { Position } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { type ReactNode, useRef, useState } from "react";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useIsLive } from "../state/use-is-live.js";
import { useIsShown } from "../state/use-is-shown.js";
import { useTerminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";
import { isUnknown } from "../venue/unsettled-requests.js";

export interface PositionFormProps {
  readonly view: MarketView;
  readonly position: Position;
  readonly onDone: () => void;
}

/**
 * Sends once at a time. `onDone` runs if it succeeded; also if its outcome is unknown, because a form
 * that stays open asks to be sent again. A failure is shown in the form, unless it was closed: toasts are
 * behind the dialog, where they cannot be read or dismissed.
 */
export function useSend(onDone: () => void) {
  const terminal = useTerminal();
  const [isSending, setSending] = useState(false);
  const [advice, setAdvice] = useState<Advice>();
  const isBusy = useRef(false);
  const isShown = useIsShown();
  const showFailure = (error: unknown) => {
    // A form whose outcome is unknown closes.
    if (isUnknown(error) || !isShown.current) {
      terminal.report(error);
      return;
    }
    setAdvice(adviceOn(error));
    terminal.noteEndOfSession(error);
  };
  const send = async (action: (session: Session) => Promise<unknown>) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setAdvice(undefined);
    const outcome = await terminal.attempt(action, showFailure);
    isBusy.current = false;
    setSending(false);
    if (outcome !== "failed") onDone();
  };
  return { isSending, advice, send };
}

interface Props {
  readonly isReady: boolean;
  readonly isSending: boolean;
  /** Why it failed. */
  readonly advice: Advice | undefined;
  readonly children: ReactNode;
}

export function SendButton({ isReady, isSending, advice, children }: Props) {
  const isLive = useIsLive();
  return (
    <>
      <AdviceBox advice={advice} />
      <button
        type="submit"
        className="button primary wide"
        disabled={!isReady || isSending || !isLive}
      >
        {isSending ? "Sending…" : isLive ? children : "Reconnecting…"}
      </button>
    </>
  );
}
