/**
 * One clock for everything that is drawn: work that was asked for since the last animation frame
 * runs in the next one, each piece once, however often it was asked for.
 *
 * Streams may bring a thousand messages a second; a screen shows sixty pictures. A hidden page gets
 * no frames and so draws nothing; what it then shows first is the latest state.
 */

type Work = () => void;

const pending = new Set<Work>();
let isRequested = false;

export function onNextFrame(work: Work): void {
  pending.add(work);
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(run);
}

export function forgetFrame(work: Work): void {
  pending.delete(work);
}

function run(): void {
  isRequested = false;
  const round = [...pending];
  pending.clear();
  for (const work of round) work();
}
