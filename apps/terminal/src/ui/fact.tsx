import type { ReactNode } from "react";

interface FactProps {
  readonly label: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly testId?: string;
}

/** A labelled value inside a description list. */
export function Fact({ label, children, className, testId }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={className} data-testid={testId}>
        {children}
      </dd>
    </div>
  );
}
