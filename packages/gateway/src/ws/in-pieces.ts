/** Work on many sockets, some of them per turn of the event loop: ten thousand must not delay an order. */

const PER_TURN = 100;

/** Calls `run` for each item, in order, from the next turn on. */
export function inPieces<T>(items: readonly T[], run: (item: T) => void, from = 0): void {
  if (from >= items.length) return;
  setImmediate(() => {
    for (const item of items.slice(from, from + PER_TURN)) run(item);
    inPieces(items, run, from + PER_TURN);
  });
}
