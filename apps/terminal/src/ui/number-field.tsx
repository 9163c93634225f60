/** A field for a typed number: label, unit, and what is wrong with it. */

import { type ReactNode, useId } from "react";

interface Props {
  readonly label: string;
  /** Next to the label. */
  readonly aside?: ReactNode;
  readonly value: string;
  readonly placeholder?: string;
  readonly unit?: string;
  /** Shown below, and read out with the field. */
  readonly problem?: string | undefined;
  /** Shown below while nothing is wrong. */
  readonly hint?: string | undefined;
  /** Marks the field without a text of its own. */
  readonly isWrong?: boolean;
  readonly onChange: (text: string) => void;
  /** Controls inside of the box. */
  readonly children?: ReactNode;
}

export function NumberField(props: Props) {
  const {
    label,
    aside,
    value,
    placeholder,
    unit,
    problem,
    isWrong = false,
    children,
    hint,
  } = props;
  const id = useId();
  const isBad = isWrong || problem !== undefined;
  return (
    <div className="field">
      <span className="label">
        <label htmlFor={id}>{label}</label>
        {aside}
      </span>
      <span className={`box ${isBad ? "wrong" : ""}`}>
        <input
          id={id}
          inputMode="decimal"
          autoComplete="off"
          placeholder={placeholder}
          value={value}
          aria-invalid={isBad}
          aria-describedby={(problem ?? hint) ? `${id}-below` : undefined}
          onChange={(event) => props.onChange(event.target.value)}
        />
        {unit !== undefined && <span className="unit">{unit}</span>}
        {children}
      </span>
      {(problem ?? hint) !== undefined && (
        <span className={problem === undefined ? "faint hint" : "short hint"} id={`${id}-below`}>
          {problem ?? hint}
        </span>
      )}
    </div>
  );
}
