/** The list of keyboard shortcuts. */

import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { SHORTCUTS } from "./shortcuts.js";
import "./shell.css";

export function ShortcutsDialog() {
  const { dialog } = useTerminal();
  const rows = [
    ...SHORTCUTS.map(({ key, text }) => [key.toUpperCase(), text] as const),
    ["1 … 9", "Tabs of the portfolio"] as const,
    ["Esc", "Close a dialog or a list"] as const,
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => dialog.set("none")}>
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
