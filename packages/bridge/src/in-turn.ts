/** The first of each owner, then the second of each; keeps the order within an owner. */
export function inTurn<T, O>(entries: readonly T[], ownerOf: (entry: T) => O): readonly T[] {
  const rounds: T[][] = [];
  const counts = new Map<O, number>();
  for (const entry of entries) {
    const owner = ownerOf(entry);
    const round = counts.get(owner) ?? 0;
    counts.set(owner, round + 1);
    rounds[round] ??= [];
    rounds[round].push(entry);
  }
  return rounds.flat();
}
