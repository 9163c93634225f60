/** Notices, keys and numbers. What concerns orders is in the order form. */

import { useState } from "react";
import type { Separator } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { changeUserSettings, userSettings, warningProblem } from "../state/user-settings.js";
import { useTerminal } from "../terminal.js";
import { notificationPermission, playTone } from "../ui/announce.js";
import { Dialog } from "../ui/dialog.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";

const NOTATIONS: readonly (readonly [Separator, string])[] = [
  [",", "1,234.50"],
  ["\u202f", "1\u202f234.50"],
  ["", "1234.50"],
];

export default function SettingsDialog() {
  const { dialog } = useTerminal();
  const { hotkeys, warnsAt, separator } = useStore(userSettings);
  return (
    <Dialog title="Settings" onClose={() => dialog.set("none")}>
      <div className="dialog-body">
        <NoticeChoices />
        <p className="notice">
          Both tell of fills, triggered stops, cancels and liquidations that no press of a button
          here caused, of positions close to their liquidation, and of price alerts.
        </p>
        <NumberField
          label="Warn of a position from a margin ratio of"
          value={warnsAt}
          unit="%"
          problem={warningProblem(warnsAt)}
          onChange={(text) => changeUserSettings({ warnsAt: text })}
        />
        <Segments
          legend="Numbers"
          name="separator"
          options={NOTATIONS}
          selected={separator}
          onSelect={(next) => changeUserSettings({ separator: next })}
        />
        <Choice
          label="Keyboard shortcuts"
          isOn={hotkeys}
          onChange={(isOn) => changeUserSettings({ hotkeys: isOn })}
        />
      </div>
    </Dialog>
  );
}

/** The browser is asked for its permission when notifications are turned on. */
export function NoticeChoices() {
  const { notifies, sounds } = useStore(userSettings);
  const [permission, setPermission] = useState(notificationPermission);
  const switchNotifications = async (isOn: boolean) => {
    if (isOn) setPermission(await Notification.requestPermission());
    changeUserSettings({ notifies: isOn });
  };
  const switchSounds = (isOn: boolean) => {
    changeUserSettings({ sounds: isOn });
    if (isOn) playTone(880);
  };
  return (
    <>
      <Choice
        label="Notifications of the browser while this page is not in front"
        isOn={notifies}
        isOff={permission === undefined}
        onChange={(isOn) => void switchNotifications(isOn)}
      />
      {notifies && permission === "denied" && (
        <p className="notice warn">The browser refuses notifications of this page.</p>
      )}
      <Choice label="Sounds" isOn={sounds} onChange={switchSounds} />
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly isOff?: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Choice({ label, isOn, isOff = false, onChange }: ChoiceProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={isOff}
        onChange={({ target }) => onChange(target.checked)}
      />
      {label}
    </label>
  );
}
