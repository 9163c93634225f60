/** Texts of metrics of several processes as one: Prometheus wants the lines of a family together. */

interface Family {
  readonly head: string[];
  readonly series: string[];
}

/** Every series must have a label that tells its text from the others. */
export function mergedMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let isKnown = false;
    let family: Family | undefined;
    for (const line of text.split("\n")) {
      if (line === "") continue;
      if (line.startsWith("# HELP ")) {
        const [, , name = ""] = line.split(" ", 3);
        isKnown = families.has(name);
        family = families.get(name) ?? { head: [], series: [] };
        families.set(name, family);
      }
      if (!line.startsWith("#")) family?.series.push(line);
      else if (!isKnown) family?.head.push(line);
    }
  }
  const parts = [...families.values()].map(({ head, series }) => [...head, ...series].join("\n"));
  return `${parts.join("\n\n")}\n`;
}
