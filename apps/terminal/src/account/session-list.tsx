/** The live sessions of the account: who may trade with it, an end to each, and a new key for this one. */

import type { SessionInfo } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { useCallback, useEffect, useState } from "react";
import { formatDollars } from "../format/numbers.js";
import { formatDayAndClock, shortHex } from "../format/text.js";
import { AdviceBox } from "../order/advice-box.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { ActionButton } from "./action-button.js";
import { MakeKeyFile } from "./make-key-file.js";
import { useFailure } from "./send-button.js";

interface Props {
  readonly session: Session;
  /** Whether this browser has what signs for the account. */
  readonly hasWallet: boolean;
}

export function SessionList({ session, hasWallet }: Props) {
  const terminal = useTerminal();
  const [sessions, setSessions] = useState<readonly SessionInfo[] | "failed">();
  const [isMaking, setMaking] = useState(false);
  const read = useCallback(
    () =>
      session.sessions().then(setSessions, (error: unknown) => {
        setSessions("failed");
        terminal.noteEndOfSession(error);
      }),
    [session, terminal],
  );
  useEffect(() => void read(), [read]);
  const { advice, show, clear } = useFailure();
  const end = async (action: (own: Session) => Promise<unknown>) => {
    clear();
    await terminal.attempt(action, show);
    await read();
  };
  const newKey = (own: Session) =>
    terminal.sessions.newKey(own).then(() => terminal.toasts.show("good", t.account.hasNewKey));
  if (sessions === undefined) return <p className="notice">{t.account.readingSessions}</p>;
  if (sessions === "failed") {
    return (
      <p className="notice warn">
        {t.account.sessionsFailed} <ActionButton act={read}>{t.account.tryAgain}</ActionButton>
      </p>
    );
  }
  return (
    <section className="choice-card" aria-label={t.account.sessions}>
      <h3>{t.account.sessions}</h3>
      <ul className="sessions">
        {sessions.map((info) => (
          <li key={info.id}>
            <div>
              <strong>{info.domain}</strong>{" "}
              {info.current && <span className="chip good">{t.account.thisOne}</span>}
              <div className="faint">
                {t.account.sessionKey(shortHex(info.sessionKey), formatDayAndClock(info.expiresAt))}
                {capsText(info)}
              </div>
            </div>
            {!info.current && (
              <ActionButton
                label={t.account.endOne(info.id)}
                act={() => end((own) => own.endSession(info.id))}
              >
                {t.account.end}
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <AdviceBox advice={advice} />
      <div className="button-row">
        {sessions.length > 1 && (
          <ActionButton act={() => end((own) => own.endOtherSessions())}>
            {t.account.endOthers}
          </ActionButton>
        )}
        <ActionButton act={() => end(newKey)}>{t.account.newKey}</ActionButton>
        {hasWallet && (
          <button
            type="button"
            className="button small"
            aria-expanded={isMaking}
            onClick={() => setMaking(!isMaking)}
          >
            {t.account.makeKeyFile}
          </button>
        )}
      </div>
      {isMaking && (
        <MakeKeyFile
          session={session}
          onMade={() => {
            setMaking(false);
            void read();
          }}
        />
      )}
    </section>
  );
}

function capsText({ scope, cancelOnDisconnect }: SessionInfo): string {
  const { maxOrderNotional, maxNotional, symbols } = scope;
  const caps = [
    maxOrderNotional === null ? "" : t.account.capOrders(formatDollars(maxOrderNotional)),
    maxNotional === null ? "" : t.account.capPositions(formatDollars(maxNotional)),
    symbols === null ? "" : symbols.join(" "),
    cancelOnDisconnect ? t.account.cancelsOnDisconnect : "",
  ].filter(Boolean);
  return caps.length === 0 ? "" : `, ${caps.join(", ")}`;
}
