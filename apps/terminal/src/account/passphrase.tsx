/** The field for the passphrase of a key file. */

import { useId } from "react";

interface PassphraseProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function Passphrase({ label, value, onChange }: PassphraseProps) {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <span className="box">
        <input
          id={id}
          type="password"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </span>
    </div>
  );
}
