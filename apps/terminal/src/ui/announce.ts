/** Tells a trader who looks elsewhere: by a sound, and by a notification of the browser. */

import { userSettings } from "../state/user-settings.js";
import type { Toasts } from "./toasts.js";

/** Toasts that are announced, too. */
export function announcing(toasts: Pick<Toasts, "show">): Pick<Toasts, "show"> {
  return {
    show: (kind, title, text, key) => {
      toasts.show(kind, title, text, key);
      const { notifies, sounds } = userSettings.get();
      if (sounds) playTone(kind === "alarm" ? 440 : 880);
      if (notifies) notify(title, text, key);
    },
  };
}

/** Undefined where the browser has no notifications, as on some phones. */
export function notificationPermission(): NotificationPermission | undefined {
  return "Notification" in globalThis ? Notification.permission : undefined;
}

function notify(title: string, body: string | undefined, tag: string | undefined): void {
  if (notificationPermission() !== "granted" || document.hasFocus()) return;
  try {
    new Notification(title, {
      ...(body === undefined ? {} : { body }),
      ...(tag === undefined ? {} : { tag }),
    });
  } catch {
    // Some browsers allow them to service workers only.
  }
}

const TONE_SECONDS = 0.2;

export function playTone(hertz: number): void {
  try {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.value = 0.1;
    tone.frequency.value = hertz;
    tone.connect(volume).connect(audio.destination);
    tone.onended = () => void audio.close();
    tone.start();
    tone.stop(audio.currentTime + TONE_SECONDS);
  } catch {
    // Not allowed, or no sound device.
  }
}
