/** The upper edge of the portfolio, which the mouse or the arrow keys move; the next visit finds it. */

import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { writePreference } from "../state/preferences.js";
import { t } from "../text/texts.js";
import "./shell.css";

const MIN_HEIGHT = 110;
const MAX_HEIGHT = 600;
const STEP = 16;

interface SplitterProps {
  /** Pixels; undefined: as the layout has it. */
  readonly height: number | undefined;
  readonly onChange: (height: number) => void;
}

export function Splitter({ height, onChange }: SplitterProps) {
  const element = useRef<HTMLDivElement>(null);
  const move = (wanted: number) => {
    const room = (element.current?.parentElement?.clientHeight ?? MAX_HEIGHT) - MIN_HEIGHT;
    const next = Math.round(Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, room, wanted)));
    writePreference("portfolio-height", String(next));
    onChange(next);
  };
  const current = () =>
    element.current?.parentElement?.querySelector(".portfolio")?.clientHeight ?? MIN_HEIGHT;
  const drag = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { bottom } = event.currentTarget.parentElement?.getBoundingClientRect() ?? { bottom: 0 };
    move(bottom - event.clientY);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
    if (step === 0) return;
    event.preventDefault();
    move(current() + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved
    <div
      ref={element}
      className="splitter"
      role="separator"
      aria-label={t.app.splitter}
      aria-orientation="horizontal"
      aria-valuemin={MIN_HEIGHT}
      aria-valuemax={MAX_HEIGHT}
      aria-valuenow={height ?? MIN_HEIGHT}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={press}
    />
  );
}
