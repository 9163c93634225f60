/** Closes one position, or every one, at the market, after one question. */

import type { FormEvent } from "react";
import { formatSigned } from "../format/numbers.js";
import { closeAtMarket, closedTextOfAll } from "../order/closing.js";
import { closingSlippagePpm } from "../order/order-settings.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { livePosition } from "../venue/live-position.js";
import { sizeText } from "../venue/market-view.js";
import { useRefresh } from "./live-pnl.js";
import { SendButton, useSend } from "./send-button.js";

interface Props {
  /** Undefined for all positions. */
  readonly symbol: string | undefined;
  readonly onClose: () => void;
}

export default function CloseDialog({ symbol: only, onClose }: Props) {
  const terminal = useTerminal();
  const { account, marketFeed } = terminal;
  const positions = [...(useStore(account.positions)?.values() ?? [])].filter(
    ({ symbol }) => only === undefined || symbol === only,
  );
  useRefresh();
  const unrealized = positions.reduce(
    (sum, position) => sum + livePosition(terminal, position).unrealized,
    0,
  );
  const percent = closingSlippagePpm() / 10_000;
  const title = only === undefined ? t.positions.closeAllTitle : t.positions.closeAtMarket(only);
  const { isSending, advice, send } = useSend(onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send((session) => closeAtMarket(terminal, session, only));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="dialog-body" onSubmit={submit} noValidate aria-label={title}>
        <p>
          {only === undefined
            ? t.positions.closeAllText(percent)
            : t.positions.closeOneText(percent)}
        </p>
        <dl className="facts">
          {positions.map(({ symbol, size }) => (
            <Fact key={symbol} label={symbol}>
              {sizeText(marketFeed.view(symbol), size)}
            </Fact>
          ))}
          <Fact label={t.words.unrealizedPnl}>{formatSigned(unrealized, 2)}</Fact>
        </dl>
        <SendButton
          isReady={positions.length > 0}
          why={closedTextOfAll(terminal, positions)}
          isSending={isSending}
          advice={advice}
        >
          {t.positions.closeSome(countOf(positions.length, t.counts.positions))}
        </SendButton>
      </form>
    </Dialog>
  );
}
