/**
 * Runs callbacks in the next animation frame, each once however often it was scheduled: streams may
 * bring a thousand messages per second, a screen draws sixty frames. A hidden page gets no frames and
 * draws the latest state when it is shown.
 */

type Work = () => void;

const pending = new Set<Work>();

export function onNextFrame(work: Work): void {
  if (pending.size === 0) requestAnimationFrame(run);
  pending.add(work);
}

export function forgetFrame(work: Work): void {
  pending.delete(work);
}

function run(): void {
  const round = [...pending];
  pending.clear();
  for (const work of round) {
    try {
      work();
    } catch (error) {
      // The others draw all the same.
      reportError(error);
    }
  }
}
