/** Cancels all orders, after one question; exits of positions only if they are chosen. */

import { type FormEvent, useState } from "react";
import { countOf } from "../format/text.js";
import { cancelPlan } from "../order/cancel-plan.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { SendButton, useSend } from "./send-button.js";

export default function CancelAllDialog() {
  const terminal = useTerminal();
  const { account, dialog } = terminal;
  const { others, exits, kept } = cancelPlan(useStore(account.orders), useStore(account.positions));
  const [hasExits, setHasExits] = useState(false);
  const close = () => dialog.set("none");
  const { isSending, advice, send } = useSend(close);
  const count = others.length + (hasExits ? exits.length : 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send((session) => terminal.cancelOpen(session, hasExits ? "all" : "orders"));
  };
  return (
    <Dialog title="Cancel all orders" onClose={close}>
      <form className="dialog-body" onSubmit={submit} noValidate aria-label="Cancel all orders">
        {kept.length > 0 && (
          <>
            <p>
              {countOf(kept.length, "exit")} of your positions (take profit, stop loss){" "}
              {hasExits ? "will be canceled, too" : "will stay"}.
            </p>
            <label className="check">
              <input
                type="checkbox"
                checked={hasExits}
                onChange={({ target }) => setHasExits(target.checked)}
              />
              Cancel exits, too
            </label>
          </>
        )}
        <SendButton isReady={count > 0} isSending={isSending} advice={advice}>
          {count === 0 ? "No orders but exits" : `Cancel ${countOf(count, "order")}`}
        </SendButton>
      </form>
    </Dialog>
  );
}
