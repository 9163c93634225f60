/** A file with a session for another machine, under a passphrase that is typed twice. */

import type { Session } from "@perpgate/sdk";
import { type FormEvent, useState } from "react";
import { shortHex } from "../format/text.js";
import { AdviceBox } from "../order/advice-box.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { saveFile } from "../ui/save-file.js";
import { WalletCanceled } from "../venue/wallet-request.js";
import { ActionButton } from "./action-button.js";
import { LEAST_PASSPHRASE, makeKeyFile } from "./key-file.js";
import { Passphrase } from "./passphrase.js";
import { useFailure } from "./send-button.js";

interface Props {
  readonly session: Session;
  readonly onMade: () => void;
}

export function MakeKeyFile({ session: { address }, onMade }: Props) {
  const terminal = useTerminal();
  const { client, sessions, toasts } = terminal;
  const [passphrase, setPassphrase] = useState("");
  const [again, setAgain] = useState("");
  const [isTold, setTold] = useState(false);
  const problem = problemOf(passphrase, again);
  const { advice, show, clear } = useFailure();
  const report = (error: unknown) => {
    if (!(error instanceof WalletCanceled)) show(error);
  };
  const make = async () => {
    setTold(true);
    clear();
    if (problem !== undefined) return;
    const done = await terminal.attempt(async () => {
      const text = await makeKeyFile(client, sessions.signer(), address, passphrase);
      saveFile(`perpgate-key-${shortHex(address).replace("…", "-")}.json`, text);
    }, report);
    if (done !== "done") return;
    toasts.show("good", t.keyFile.saved, t.keyFile.savedText);
    onMade();
  };
  const submit = (event: FormEvent) => event.preventDefault();
  return (
    <form className="key-file" onSubmit={submit}>
      <p>{t.keyFile.text}</p>
      <Passphrase label={t.keyFile.passphrase} value={passphrase} onChange={setPassphrase} />
      <Passphrase label={t.keyFile.again} value={again} onChange={setAgain} />
      {isTold && problem !== undefined && (
        <p className="notice warn" role="alert">
          {problem}
        </p>
      )}
      <AdviceBox advice={advice} />
      <ActionButton isSubmit busyText={t.keyFile.saving} act={make}>
        {t.keyFile.save}
      </ActionButton>
    </form>
  );
}

function problemOf(passphrase: string, again: string): string | undefined {
  if (passphrase.length < LEAST_PASSPHRASE) {
    return t.keyFile.tooShort(LEAST_PASSPHRASE);
  }
  return passphrase === again ? undefined : t.keyFile.notSame;
}
