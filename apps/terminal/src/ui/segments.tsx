interface SegmentsProps<T extends string> {
  readonly legend: string;
  readonly name: string;
  readonly options: readonly T[];
  /** Without it the values are shown. */
  readonly labels?: Readonly<Record<T, string>>;
  readonly selected: T;
  readonly onSelect: (value: T) => void;
  readonly className?: string;
  readonly optionClass?: (value: T) => string;
}

/** Radio buttons as a segmented control. */
export function Segments<T extends string>(props: SegmentsProps<T>) {
  const { legend, name, options, labels, selected, onSelect, className = "", optionClass } = props;
  return (
    <fieldset className={`segments ${className}`}>
      <legend className="unseen">{legend}</legend>
      {options.map((value) => (
        <label key={value} className={optionClass?.(value)}>
          <input
            type="radio"
            name={name}
            checked={value === selected}
            onChange={() => onSelect(value)}
          />
          {labels?.[value] ?? value}
        </label>
      ))}
    </fieldset>
  );
}
