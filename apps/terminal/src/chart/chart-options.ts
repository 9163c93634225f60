/** The chart's options: colours of the theme, times in the local time zone. */

import { ColorType, TickMarkType, type Time } from "lightweight-charts";
import { LOCALES, language } from "../text/texts.js";
import type { Colours } from "../theme/theme.js";

export function chartOptions(colours: Colours) {
  const locale = LOCALES[language.get()];
  return {
    layout: {
      background: { type: ColorType.Solid, color: colours.surface },
      textColor: colours["text-soft"],
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.6875,
      attributionLogo: false,
      panes: { separatorColor: colours.line, separatorHoverColor: colours["line-strong"] },
    },
    grid: { vertLines: { color: colours.line }, horzLines: { color: colours.line } },
    crosshair: { mode: 0 },
    rightPriceScale: { borderColor: colours.line },
    timeScale: {
      borderColor: colours.line,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      maxBarSpacing: 24,
      tickMarkFormatter: markFormatter(locale),
    },
    localization: { locale, timeFormatter: crosshairFormatter(locale) },
  };
}

/** In the local time zone; the library's default is UTC. */
function markFormatter(locale: string): (time: Time, type: TickMarkType) => string {
  const formats: Readonly<Record<TickMarkType, Intl.DateTimeFormat>> = {
    [TickMarkType.Year]: new Intl.DateTimeFormat(locale, { year: "numeric" }),
    [TickMarkType.Month]: new Intl.DateTimeFormat(locale, { month: "short" }),
    [TickMarkType.DayOfMonth]: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }),
    [TickMarkType.Time]: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }),
    [TickMarkType.TimeWithSeconds]: new Intl.DateTimeFormat(locale, {
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    }),
  };
  return (time, type) => formats[type].format(Number(time) * 1_000);
}

function crosshairFormatter(locale: string): (time: Time) => string {
  const format = new Intl.DateTimeFormat(locale, {
    day: "2-digit",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (time) => format.format(Number(time) * 1_000);
}
