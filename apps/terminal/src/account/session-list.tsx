/** The live sessions of the account: who may trade with it, an end to each, and a new key for this one. */

import type { SessionInfo } from "@perpgate/protocol";
import type { Session } from "@perpgate/sdk";
import { useCallback, useEffect, useState } from "react";
import { formatDollars } from "../format/numbers.js";
import { formatDayAndClock, shortHex } from "../format/text.js";
import { AdviceBox } from "../order/advice-box.js";
import { useTerminal } from "../terminal.js";
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
    terminal.sessions.newKey(own).then(() => terminal.toasts.show("good", "New session key"));
  if (sessions === undefined) return <p className="notice">Reading the sessions…</p>;
  if (sessions === "failed") {
    return (
      <p className="notice warn">
        The sessions could not be read. <ActionButton act={read}>Try again</ActionButton>
      </p>
    );
  }
  return (
    <section className="choice-card" aria-label="Sessions">
      <h3>Sessions</h3>
      <ul className="sessions">
        {sessions.map((info) => (
          <li key={info.id}>
            <div>
              <strong>{info.domain}</strong>{" "}
              {info.current && <span className="chip good">This one</span>}
              <div className="faint">
                Key {shortHex(info.sessionKey)}, until {formatDayAndClock(info.expiresAt)}
                {capsText(info)}
              </div>
            </div>
            {!info.current && (
              <ActionButton
                label={`End session ${info.id}`}
                act={() => end((own) => own.endSession(info.id))}
              >
                End
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <AdviceBox advice={advice} />
      <div className="button-row">
        {sessions.length > 1 && (
          <ActionButton act={() => end((own) => own.endOtherSessions())}>
            End all others
          </ActionButton>
        )}
        <ActionButton act={() => end(newKey)}>New key</ActionButton>
        {hasWallet && (
          <button
            type="button"
            className="button small"
            aria-expanded={isMaking}
            onClick={() => setMaking(!isMaking)}
          >
            Make a key file
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
    maxOrderNotional === null ? "" : `orders up to ${formatDollars(maxOrderNotional)}`,
    maxNotional === null ? "" : `positions up to ${formatDollars(maxNotional)}`,
    symbols === null ? "" : symbols.join(" "),
    cancelOnDisconnect ? "cancels on disconnect" : "",
  ].filter(Boolean);
  return caps.length === 0 ? "" : `, ${caps.join(", ")}`;
}
