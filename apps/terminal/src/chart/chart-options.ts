/** The chart's options: colours of the theme, times in the local time zone. */

import { ColorType, TickMarkType, type Time } from "lightweight-charts";
import type { Colours } from "../theme/theme.js";

export function chartOptions(colours: Colours) {
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
      tickMarkFormatter: formatTickMark,
    },
    localization: { locale: "en-GB", timeFormatter: formatCrosshairTime },
  };
}

const MARK_FORMATS: Readonly<Record<TickMarkType, Intl.DateTimeFormat>> = {
  [TickMarkType.Year]: new Intl.DateTimeFormat("en-GB", { year: "numeric" }),
  [TickMarkType.Month]: new Intl.DateTimeFormat("en-GB", { month: "short" }),
  [TickMarkType.DayOfMonth]: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" }),
  [TickMarkType.Time]: new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }),
  [TickMarkType.TimeWithSeconds]: new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }),
};
const CROSSHAIR = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** In the local time zone; the library's default is UTC. */
function formatTickMark(time: Time, type: TickMarkType): string {
  return MARK_FORMATS[type].format(Number(time) * 1_000);
}

function formatCrosshairTime(time: Time): string {
  return CROSSHAIR.format(Number(time) * 1_000);
}
