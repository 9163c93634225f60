import { t } from "../text/texts.js";
import type { Advice, AdviceAction } from "./advice.js";

interface AdviceProps {
  readonly advice: Advice | undefined;
  /** Without it no button is shown. */
  readonly onAct?: (action: AdviceAction) => void;
}

/** Why an action failed, with a button for the suggested correction. */
export function AdviceBox({ advice, onAct }: AdviceProps) {
  if (advice === undefined) return null;
  const { title, text, action, requestId } = advice;
  return (
    <div className="notice bad" role="alert">
      <strong>{title}.</strong> {text}
      {requestId !== undefined && <span className="faint"> {t.advice.request(requestId)}</span>}
      {action !== undefined && onAct !== undefined && (
        <div>
          <button type="button" className="button small" onClick={() => onAct(action)}>
            {action.label}
          </button>
        </div>
      )}
    </div>
  );
}
