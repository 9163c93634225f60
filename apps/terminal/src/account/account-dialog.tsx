/** The signed-in account: address, session, the burner wallet's key. */

import { formatDayAndClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Fact } from "../ui/fact.js";
import { BurnerKey } from "./burner-key.js";
import { SessionList } from "./session-list.js";

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
    <Dialog title={t.account.title} onClose={close}>
      <div className="dialog-body">
        <dl className="facts">
          <Fact label={t.account.signedInWith}>{t.account.kinds[state.kind]}</Fact>
          <Fact label={t.account.sessionEnds}>{formatDayAndClock(state.session.expiresAt)}</Fact>
          <Fact label={t.account.afterReload}>
            {state.isKept && sessions.isStaying ? t.account.staysIn : t.account.signedOut}
          </Fact>
        </dl>
        <p className="secret">{state.address}</p>
        <SessionList session={state.session} hasWallet={state.kind !== "file"} />
        <button type="button" className="button" onClick={() => dialog.set("settings")}>
          {t.words.settings}
        </button>
        {state.kind === "burner" && burner !== undefined && (
          <section className="choice-card">
            <h3>
              {t.account.burnerWallet} <span className="chip warn">{t.words.testnetOnly}</span>
            </h3>
            <p>{t.account.burnerText}</p>
            <BurnerKey privateKey={burner} address={state.address} />
          </section>
        )}
      </div>
    </Dialog>
  );
}
