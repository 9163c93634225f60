/** Signs out although positions are open, after one question. */

import { useStore } from "../state/store.js";
import { useIsLive } from "../state/use-is-live.js";
import { useTerminal } from "../terminal.js";
import { countOf, t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";

export default function SignOutDialog() {
  const terminal = useTerminal();
  const { account, dialog } = terminal;
  const isLive = useIsLive();
  const positions = useStore(account.positions, (all) => all?.size);
  const orders = useStore(account.orders, (all) => all?.size);
  const areKnown = isLive && positions !== undefined && orders !== undefined;
  const close = () => dialog.set("none");
  const leave = () => {
    close();
    terminal.signOut();
  };
  return (
    <Dialog title={t.header.signOut} onClose={close}>
      <div className="dialog-body">
        <p>
          {areKnown
            ? t.account.signOutText(
                countOf(positions, t.counts.openPositions),
                countOf(orders, t.counts.openOrders),
              )
            : t.account.signOutUnknown}
        </p>
        <div className="pair">
          <button type="button" className="button" onClick={close}>
            {t.words.back}
          </button>
          <button type="button" className="button primary" onClick={leave}>
            {t.account.signOutNow}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
