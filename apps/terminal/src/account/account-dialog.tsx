/** The signed-in account: address, session, the burner wallet's key. */

import { formatDayAndClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { BurnerKey } from "./burner-key.js";
import { SessionList } from "./session-list.js";

const SIGNED_IN_WITH = { burner: "Burner key", wallet: "Wallet", file: "Key file" } as const;

export function AccountDialog() {
  const { dialog, sessions } = useTerminal();
  const state = useStore(sessions.state);
  const burner = useStore(sessions.burner);
  if (state.status !== "in") return null;
  const close = () => {
    sessions.cancelSignIn();
    dialog.set("none");
  };
  return (
    <Dialog title="Account" onClose={close}>
      <div className="dialog-body">
        <dl className="facts">
          <Fact label="Signed in with">{SIGNED_IN_WITH[state.kind]}</Fact>
          <Fact label="Session ends">{formatDayAndClock(state.session.expiresAt)}</Fact>
          <Fact label="After a reload">
            {state.isKept && sessions.isStaying ? "Stays signed in" : "Signed out"}
          </Fact>
        </dl>
        <p className="secret">{state.address}</p>
        <SessionList session={state.session} hasWallet={state.kind !== "file"} />
        <button type="button" className="button" onClick={() => dialog.set("settings")}>
          Settings
        </button>
        {state.kind === "burner" && burner !== undefined && (
          <section className="choice-card">
            <h3>
              Burner wallet <span className="chip warn">Testnet only</span>
            </h3>
            <p>
              The private key is the account: anybody who has it can trade with it. Save it to use
              the account in another browser.
            </p>
            <BurnerKey privateKey={burner} address={state.address} />
          </section>
        )}
      </div>
    </Dialog>
  );
}
