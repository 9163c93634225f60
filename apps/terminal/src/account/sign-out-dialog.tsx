/** Signs out although positions are open, after one question. */

import { countOf } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useIsLive } from "../state/use-is-live.js";
import { useTerminal } from "../terminal.js";
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
    <Dialog title="Sign out" onClose={close}>
      <div className="dialog-body">
        <p>
          {areKnown
            ? `${countOf(positions, "open position")} and ${countOf(orders, "open order")} stay`
            : "Your positions and orders are not known now. Open ones stay"}{" "}
          as they are while you are signed out.
        </p>
        <div className="pair">
          <button type="button" className="button" onClick={close}>
            Back
          </button>
          <button type="button" className="button primary" onClick={leave}>
            Sign out now
          </button>
        </div>
      </div>
    </Dialog>
  );
}
