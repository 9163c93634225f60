/** The private key of the burner wallet: shown on request, copied, saved as a file. */

import { useState } from "react";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { saveFile } from "../ui/save-file.js";

export function BurnerKey({ privateKey, address }: { privateKey: string; address: string }) {
  const { toasts } = useTerminal();
  const [isShown, setShown] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(privateKey).then(
      () => toasts.show("good", t.account.keyCopied),
      () => toasts.show("bad", t.account.notCopied, t.account.notCopiedText),
    );
  };
  return (
    <>
      <div className="button-row">
        <button type="button" className="button small" onClick={() => setShown(!isShown)}>
          {isShown ? t.account.hideKey : t.account.showKey}
        </button>
        <button type="button" className="button small" onClick={copy}>
          {t.words.copy}
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => saveFile(`perpgate-burner-${address}.txt`, `${privateKey}\n`)}
        >
          {t.account.saveAsFile}
        </button>
      </div>
      {isShown && (
        <output className="secret" aria-label={t.account.privateKey}>
          {privateKey}
        </output>
      )}
    </>
  );
}
