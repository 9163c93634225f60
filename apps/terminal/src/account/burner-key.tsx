/** The private key of the burner wallet: shown on request, copied, saved as a file. */

import { useState } from "react";
import { useTerminal } from "../terminal.js";
import { saveFile } from "../ui/save-file.js";

export function BurnerKey({ privateKey, address }: { privateKey: string; address: string }) {
  const { toasts } = useTerminal();
  const [isShown, setShown] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(privateKey).then(
      () => toasts.show("good", "Private key copied"),
      () => toasts.show("bad", "Not copied", "The browser refused the clipboard. Show the key."),
    );
  };
  return (
    <>
      <div className="button-row">
        <button type="button" className="button small" onClick={() => setShown(!isShown)}>
          {isShown ? "Hide private key" : "Show private key"}
        </button>
        <button type="button" className="button small" onClick={copy}>
          Copy
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => saveFile(`perpgate-burner-${address}.txt`, `${privateKey}\n`)}
        >
          Save as a file
        </button>
      </div>
      {isShown && (
        <output className="secret" aria-label="Private key">
          {privateKey}
        </output>
      )}
    </>
  );
}
