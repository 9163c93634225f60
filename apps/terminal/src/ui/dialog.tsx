/** A modal dialog; the native element traps and restores the focus. */

import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../text/texts.js";
import { Icon } from "./icons.js";
import "./dialog.css";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog?.open === false) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      className="dialog"
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // On Escape the parent closes it by no longer rendering it.
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button
          type="button"
          className="button bare small"
          aria-label={t.words.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
