/** What can be done with a position: close a part or all of it, change its margin, protect it. */

import { useState } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { Tabs, tabPanel } from "../ui/tabs.js";
import { CloseForm } from "./close-form.js";
import { MarginForm } from "./margin-form.js";
import { ProtectForm } from "./protect-form.js";

const NAMES = ["close", "margin", "protect"] as const;
type Name = (typeof NAMES)[number];
const PANEL = "position-panel";

const FORMS = { close: CloseForm, margin: MarginForm, protect: ProtectForm };

interface Props {
  readonly symbol: string;
  readonly onClose: () => void;
}

export default function PositionDialog({ symbol, onClose }: Props) {
  const { account, marketFeed } = useTerminal();
  const position = useStore(account.positions, (all) => all?.get(symbol));
  const [tab, setTab] = useState<Name>("close");
  const view = marketFeed.view(symbol);
  const Form = FORMS[tab];
  const tabs = NAMES.map((name) => ({ name, label: t.positions.tabs[name] }));
  return (
    <Dialog title={t.positions.title(symbol)} onClose={onClose}>
      <Tabs
        label={t.positions.tabsLabel}
        tabs={tabs}
        selected={tab}
        panelId={PANEL}
        onSelect={setTab}
      />
      <div className="dialog-body" {...tabPanel(PANEL, tab)}>
        {position === undefined || view === undefined ? (
          <p className="notice">{t.positions.isClosed}</p>
        ) : (
          <Form view={view} position={position} onDone={onClose} />
        )}
      </div>
    </Dialog>
  );
}
