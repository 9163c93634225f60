/** The list of keyboard shortcuts. */

import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { SHORTCUTS } from "./shortcuts.js";
import "./shell.css";

export function ShortcutsDialog() {
  const { dialog } = useTerminal();
  const rows = [
    ...SHORTCUTS.map(
      ({ key, text }) => [key.toUpperCase(), t.settings.shortcutTexts[text]] as const,
    ),
    ["1 … 9", t.settings.shortcutTexts.tabs] as const,
    ["Esc", t.settings.shortcutTexts.escape] as const,
  ];
  return (
    <Dialog title={t.settings.shortcuts} onClose={() => dialog.set("none")}>
      <dl className="dialog-body facts shortcuts">
        {rows.map(([key, text]) => (
          <div key={key}>
            <dt>{text}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
