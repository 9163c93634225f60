/** Signs in with a key file that another machine has made. */

import { type FormEvent, useId, useState } from "react";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { KeyFileOpener } from "./key-file.js";
import { Passphrase } from "./passphrase.js";

interface Props {
  readonly isBusy: boolean;
  readonly onSignIn: (signIn: () => Promise<void>) => void;
}

export function OpenKeyFile({ isBusy, onSignIn }: Props) {
  const { client, sessions } = useTerminal();
  const [opener] = useState(() => new KeyFileOpener(client));
  const [isOpen, setOpen] = useState(false);
  const [file, setFile] = useState<File>();
  const [passphrase, setPassphrase] = useState("");
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file === undefined) return;
    onSignIn(() =>
      sessions.signInWithFile(async (keep) => opener.open(await file.text(), passphrase, keep)),
    );
  };
  return (
    <>
      <div className="button-row">
        <button
          type="button"
          className="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t.keyFile.open}
        </button>
      </div>
      {isOpen && (
        <form className="key-file" onSubmit={submit}>
          <div className="field">
            <label className="label" htmlFor={id}>
              {t.keyFile.file}
            </label>
            <input
              id={id}
              type="file"
              accept=".json,application/json"
              onChange={({ target }) => setFile(target.files?.[0])}
            />
          </div>
          <Passphrase label={t.keyFile.passphrase} value={passphrase} onChange={setPassphrase} />
          <button
            type="submit"
            className="button"
            disabled={isBusy || file === undefined || passphrase === ""}
          >
            {t.keyFile.signIn}
          </button>
        </form>
      )}
    </>
  );
}
