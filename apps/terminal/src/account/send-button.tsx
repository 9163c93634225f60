/** The button of a form in a dialog, how its action is sent, and why it failed. */

import type { Position } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { type ReactNode, useRef, useState } from "react";
import { formatAvailable } from "../format/numbers.js";
import { type Advice, adviceOn } from "../order/advice.js";
import { AdviceBox } from "../order/advice-box.js";
import { useIsLive } from "../state/use-is-live.js";
import { useIsShown } from "../state/use-is-shown.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import type { MarketView } from "../venue/market-view.js";
import { isUnknown } from "../venue/unsettled-requests.js";

export interface PositionFormProps {
  readonly view: MarketView;
  readonly position: Position;
  readonly onDone: () => void;
}

/** Why an action of a dialog failed, shown in it while it is open: toasts are behind it. */
export function useFailure() {
  const terminal = useTerminal();
  const [advice, setAdvice] = useState<Advice>();
  const isShown = useIsShown();
  const show = (error: unknown) => {
    if (!isShown.current) {
      terminal.report(error);
      return;
    }
    setAdvice(adviceOn(error));
    terminal.noteEndOfSession(error);
  };
  return { advice, show, clear: () => setAdvice(undefined) };
}

/**
 * Sends once at a time. `onDone` runs if it succeeded; also if its outcome is unknown, when it must close
 * the form: one that stays open asks to be sent again. A failure is shown in the form, unless it was closed: toasts are
 * behind the dialog, where they cannot be read or dismissed.
 */
export function useSend(onDone: (outcome: "done" | "unknown") => void) {
  const terminal = useTerminal();
  const [isSending, setSending] = useState(false);
  const { advice, show, clear } = useFailure();
  const isBusy = useRef(false);
  // A form whose outcome is unknown closes.
  const showFailure = (error: unknown) => (isUnknown(error) ? terminal.report(error) : show(error));
  const send = async (action: (session: Session) => Promise<unknown>) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    clear();
    const outcome = await terminal.attempt(action, showFailure);
    isBusy.current = false;
    setSending(false);
    if (outcome !== "failed") onDone(outcome);
  };
  return { isSending, advice, send };
}

/** Floored to cents; a gap until it is known. */
export function Dollars({ value }: { readonly value: number | undefined }) {
  return value === undefined ? <span className="skeleton" /> : formatAvailable(value);
}

interface Props {
  readonly isReady: boolean;
  /** Why the market takes none of it. */
  readonly why?: string | undefined;
  readonly isSending: boolean;
  /** Why it failed. */
  readonly advice: Advice | undefined;
  readonly children: ReactNode;
}

export function SendButton({ isReady, why, isSending, advice, children }: Props) {
  const isLive = useIsLive();
  return (
    <>
      <AdviceBox advice={advice} />
      <button
        type="submit"
        className="button primary wide"
        disabled={!isReady || isSending || !isLive || why !== undefined}
      >
        {isSending ? t.words.sending : isLive ? (why ?? children) : t.words.reconnecting}
      </button>
    </>
  );
}
