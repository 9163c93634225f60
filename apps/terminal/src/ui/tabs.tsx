/** Tabs by the ARIA pattern: arrow keys move between them, one tab stop. */

import { type KeyboardEvent, useRef } from "react";

export interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: string;
}

interface Props<Name extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly selected: Name;
  /** The id of the panel that the tabs control. */
  readonly panelId: string;
  readonly onSelect: (name: Name) => void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

export function Tabs<Name extends string>({
  label,
  tabs,
  selected,
  panelId,
  onSelect,
}: Props<Name>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === selected);
    const next = (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab === undefined) return;
    onSelect(tab.name);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map(({ name, label: text }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${panelId}-${name}`}
          aria-selected={name === selected}
          aria-controls={panelId}
          tabIndex={name === selected ? 0 : -1}
          onClick={() => onSelect(name)}
          onKeyDown={move}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** The panel is a tab stop, so that it can be scrolled by keyboard. */
export function tabPanel(panelId: string, selected: string) {
  return {
    id: panelId,
    role: "tabpanel",
    "aria-labelledby": `${panelId}-${selected}`,
    tabIndex: 0,
  } as const;
}
