/** Cancels all orders, after one question; exits of positions only if they are chosen. */

import { type FormEvent, useState } from "react";
import { cancelPlan } from "../order/cancel-plan.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { SendButton, useSend } from "./send-button.js";

export default function CancelAllDialog() {
  const terminal = useTerminal();
  const { account, dialog } = terminal;
  const { others, exits, kept } = cancelPlan(useStore(account.orders), useStore(account.positions));
  const [hasExits, setHasExits] = useState(false);
  const close = () => dialog.set("none");
  const { isSending, advice, send } = useSend(close);
  const shownExits = countOf(kept.length, t.counts.exits);
  const count = others.length + (hasExits ? exits.length : 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send((session) => terminal.cancelOpen(session, hasExits ? "all" : "orders"));
  };
  return (
    <Dialog title={t.orders.cancelTitle} onClose={close}>
      <form className="dialog-body" onSubmit={submit} noValidate aria-label={t.orders.cancelTitle}>
        {kept.length > 0 && (
          <>
            <p>{hasExits ? t.orders.exitsGo(shownExits) : t.orders.exitsStay(shownExits)}</p>
            <label className="check">
              <input
                type="checkbox"
                checked={hasExits}
                onChange={({ target }) => setHasExits(target.checked)}
              />
              {t.orders.cancelExits}
            </label>
          </>
        )}
        <SendButton isReady={count > 0} isSending={isSending} advice={advice}>
          {count === 0 ? t.orders.onlyExits : t.orders.cancelSome(countOf(count, t.counts.orders))}
        </SendButton>
      </form>
    </Dialog>
  );
}
