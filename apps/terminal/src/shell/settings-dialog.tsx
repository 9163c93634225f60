/** Language, notices, keys and numbers. What concerns orders is in the order form. */

import { useState } from "react";
import { SEPARATORS, type Separator } from "../format/numbers.js";
import { writePreference } from "../state/preferences.js";
import { useStore } from "../state/store.js";
import { changeUserSettings, userSettings, warningProblem } from "../state/user-settings.js";
import { useTerminal } from "../terminal.js";
import {
  LANGUAGE_NAMES,
  LANGUAGES,
  type Language,
  language,
  showLanguage,
  t,
} from "../text/texts.js";
import { notificationPermission, playTone } from "../ui/announce.js";
import { Dialog } from "../ui/dialog.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";

const NOTATIONS: Readonly<Record<Separator, string>> = {
  ",": "1,234.50",
  "\u202f": "1\u202f234.50",
  "": "1234.50",
};

export default function SettingsDialog() {
  const { dialog } = useTerminal();
  const { hotkeys, warnsAt, separator } = useStore(userSettings);
  // Every text of the dialog is another one then.
  useStore(language);
  return (
    <Dialog title={t.settings.title} onClose={() => dialog.set("none")}>
      <div className="dialog-body">
        <LanguageChoice />
        <NoticeChoices />
        <p className="notice">{t.settings.notices}</p>
        <NumberField
          label={t.settings.warnsAt}
          value={warnsAt}
          unit="%"
          problem={warningProblem(warnsAt)}
          onChange={(text) => changeUserSettings({ warnsAt: text })}
        />
        <Segments
          legend={t.settings.numbers}
          name="separator"
          options={SEPARATORS}
          labels={NOTATIONS}
          selected={separator}
          onSelect={(next) => changeUserSettings({ separator: next })}
        />
        <Choice
          label={t.settings.shortcuts}
          isOn={hotkeys}
          onChange={(isOn) => changeUserSettings({ hotkeys: isOn })}
        />
      </div>
    </Dialog>
  );
}

function LanguageChoice() {
  const { toasts } = useTerminal();
  const choose = async (next: Language) => {
    try {
      await showLanguage(next);
      writePreference("language", next);
    } catch {
      toasts.show("bad", t.settings.notLoaded, t.settings.notLoadedText);
    }
  };
  return (
    <Segments
      legend={t.settings.language}
      name="language"
      options={LANGUAGES}
      labels={LANGUAGE_NAMES}
      selected={useStore(language)}
      onSelect={(next) => void choose(next)}
    />
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
        label={t.settings.notifies}
        isOn={notifies}
        isOff={permission === undefined}
        onChange={(isOn) => void switchNotifications(isOn)}
      />
      {notifies && permission === "denied" && <p className="notice warn">{t.settings.refused}</p>}
      <Choice label={t.settings.sounds} isOn={sounds} onChange={switchSounds} />
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
