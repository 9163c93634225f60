/** "Did you mean": the words nearest to one that is unknown. */

/** The nearest of the words, if one is near: a few letters differ, or it begins with the word. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const given = word.toLowerCase();
  const longer = words.filter((each) => each.toLowerCase().startsWith(given));
  if (given.length > 1 && longer.length > 0) return longer[0];
  const allowed = Math.min(3, Math.ceil(given.length / 3));
  return words
    .map((each) => ({ each, distance: editDistance(given, each.toLowerCase()) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)[0]?.each;
}

/** Letters to add, remove, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[to.length]!;
}
