/** Closes every position at the market, after one question. */

import type { FormEvent } from "react";
import { formatSigned } from "../format/numbers.js";
import { closeAll } from "../order/closing.js";
import { maxSlippagePpm } from "../order/order-settings.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { sizeText } from "../venue/market-view.js";
import { useUnrealized } from "./live-pnl.js";
import { SendButton, useSend } from "./send-button.js";

export default function CloseAllDialog({ onClose }: { readonly onClose: () => void }) {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const positions = [...(useStore(account.positions)?.values() ?? [])];
  const unrealized = useUnrealized();
  const { isSending, advice, send } = useSend(onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send((session) => closeAll(terminal, session, positions));
  };
  return (
    <Dialog title="Close all positions" onClose={onClose}>
      <form className="dialog-body" onSubmit={submit} noValidate aria-label="Close all positions">
        <p>
          Each position is closed at the market, at most {maxSlippagePpm() / 10_000}% from its mark.
        </p>
        <dl className="facts">
          {positions.map(({ symbol, size }) => (
            <Fact key={symbol} label={symbol}>
              {sizeText(marketFeed.view(symbol), size)}
            </Fact>
          ))}
          <Fact label="Unrealised PnL">{formatSigned(unrealized, 2)}</Fact>
        </dl>
        <SendButton isReady={positions.length > 0} isSending={isSending} advice={advice}>
          Close {positions.length === 1 ? "1 position" : `${positions.length} positions`}
        </SendButton>
      </form>
    </Dialog>
  );
}
