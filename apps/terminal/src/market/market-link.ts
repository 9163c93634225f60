/** Links to a market: `/#ETHUSD`. */

export function symbolInLink(): string | undefined {
  const symbol = decodeURIComponent(location.hash.slice(1));
  return /^[A-Za-z0-9]{1,32}$/.test(symbol) ? symbol.toUpperCase() : undefined;
}

/** Without a step in the history: the back button leaves the page. */
export function writeLink(symbol: string): void {
  if (symbolInLink() !== symbol) history.replaceState(null, "", `#${symbol}`);
}
