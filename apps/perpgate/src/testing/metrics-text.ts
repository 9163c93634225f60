/**
 * The text of /metrics, read as Prometheus reads it. The label `process` is left out, which every series
 * has: a value is that of all processes together.
 */

export interface MetricFamily {
  readonly type: string;
  /** Labels of its series, without `le`; empty without any series. */
  readonly labels: ReadonlySet<string>;
  /** Values of its labels: `label=value`. */
  readonly values: ReadonlySet<string>;
  readonly hasSeries: boolean;
}

export class MetricsReading {
  readonly families: ReadonlyMap<string, MetricFamily>;
  private readonly series = new Map<string, number>();

  constructor(text: string) {
    const families = new Map<string, ReturnType<typeof newFamily>>();
    for (const line of text.split("\n")) {
      const [, name = "", type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (name !== "") families.set(name, newFamily(type));
      if (line === "" || line.startsWith("#")) continue;
      const [, series = "", value = ""] = /^(.*) (\S+)$/.exec(line) ?? [];
      const [named, unnamed] = [series, withoutProcess(series)];
      if (named === unnamed) throw new Error(`a series without its process: ${line}`);
      this.series.set(unnamed, (this.series.get(unnamed) ?? 0) + Number(value));
      const family = families.get(familyName(series.split("{", 1)[0] ?? "", families));
      if (family === undefined) throw new Error(`a series without a type: ${line}`);
      family.hasSeries = true;
      for (const [, label = "", quoted = ""] of series.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
        if (label === "le" || label === "process") continue;
        family.labels.add(label);
        family.values.add(`${label}=${quoted}`);
      }
    }
    this.families = families;
  }

  /** The value of a series as /metrics writes it, without its process. */
  value(series: string): number | undefined {
    return this.series.get(series);
  }

  /** The family that a name of an expression belongs to. */
  familyOf(name: string): MetricFamily | undefined {
    return this.families.get(familyName(name, this.families));
  }
}

function withoutProcess(series: string): string {
  return series.replace(/,?process="[^"]*"/, "").replace(/\{\}$/, "");
}

function newFamily(type: string) {
  return { type, labels: new Set<string>(), values: new Set<string>(), hasSeries: false };
}

/** The name without the endings of a histogram's parts. */
export function familyName(name: string, families: ReadonlyMap<string, { type: string }>): string {
  if (families.has(name)) return name;
  const base = name.replace(/_(?:bucket|count|sum)$/, "");
  return families.get(base)?.type === "histogram" ? base : name;
}
