/** Of a sandbox: its time, and what pauses, steps and hastens it. */

import { formatDayAndClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import type { SandboxFeed } from "../venue/sandbox-feed.js";
import "./sandbox-bar.css";

const SPEEDS = [1, 10, 60, 600] as const;
/** Less of the speed than this is said. */
const BEHIND = 0.7;
const STEPS = ["1s", "1m", "1h"] as const;

export function SandboxBar() {
  const { sandbox } = useTerminal();
  return sandbox === undefined ? null : <Bar sandbox={sandbox} />;
}

function Bar({ sandbox }: { readonly sandbox: SandboxFeed }) {
  const terminal = useTerminal();
  const state = useStore(sandbox.state);
  if (state === undefined) return null;
  const { time, speed, measuredSpeed } = state;
  const isPaused = speed === 0;
  const run = (action: Promise<void>) => {
    action.catch((error: Error) => terminal.toasts.show("bad", t.sandbox.refused, error.message));
  };
  const isBehind = measuredSpeed > 0 && measuredSpeed < BEHIND * speed;
  return (
    <section className="sandbox-bar" aria-label={t.sandbox.label}>
      <time dateTime={new Date(time).toISOString()} data-testid="sandbox-time">
        {formatDayAndClock(time)}
      </time>
      <button
        type="button"
        className="button small"
        onClick={() => run(sandbox.setSpeed(isPaused ? 1 : 0))}
      >
        {isPaused ? t.sandbox.run : t.sandbox.pause}
      </button>
      {isPaused ? (
        STEPS.map((step) => (
          <button
            type="button"
            className="button small"
            key={step}
            aria-label={t.sandbox.stepBy(step)}
            onClick={() => run(sandbox.advance(step))}
          >
            +{step}
          </button>
        ))
      ) : (
        <select
          className="choice"
          aria-label={t.sandbox.speed}
          value={speed}
          onChange={(event) => run(sandbox.setSpeed(Number(event.target.value)))}
        >
          {[...new Set([...SPEEDS, speed])]
            .toSorted((a, b) => a - b)
            .map((one) => (
              <option key={one} value={one}>
                {one}×
              </option>
            ))}
        </select>
      )}
      {isBehind && <span>{t.sandbox.keeps(Math.round(measuredSpeed))}</span>}
    </section>
  );
}
