/** Keeps a failure inside its panel: a trader with an open position still has the rest of the page. */

import { Component, type ReactNode } from "react";

interface Props {
  /** What has failed, in words. */
  readonly name: string;
  /** Its place in the layout. */
  readonly area?: string;
  readonly children: ReactNode;
}

export class Boundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    const { name, area = "" } = this.props;
    return (
      <section className={`panel ${area}`} aria-label={name}>
        <div className="notice bad" role="alert">
          <p>{name} cannot be shown: the page has an error. Everything else goes on.</p>
          <button type="button" className="button small" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </section>
    );
  }
}
