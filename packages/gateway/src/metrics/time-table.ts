/**
 * Histograms of times that cost an order no allocation: prom-client's own build an object and a string
 * of the labels for every observation. A series is found once for its labels, or by map look-ups, and
 * counts in an array; the text is built when it is collected.
 */

import { Histogram, type Registry } from "prom-client";

/** Upper bounds in seconds, in ascending order. */
const BOUNDS: readonly number[] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5];

type Labels = Readonly<Record<string, string | number>>;

class TimeSeries {
  /** Per bound, not cumulative; the last is above all bounds. */
  private readonly counts = new Float64Array(BOUNDS.length + 1);
  private seconds = 0;

  constructor(readonly labels: Labels) {}

  observe(elapsedMs: number): void {
    const seconds = elapsedMs / 1_000;
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++;
    this.counts[at]!++;
    this.seconds += seconds;
  }

  /** Lines of the text, cumulative as Prometheus wants them, in prom-client's form. */
  valuesOf(name: string) {
    const { labels: sharedLabels } = this;
    let total = 0;
    const buckets = Array.from(this.counts, (count, at) => {
      total += count;
      return {
        metricName: `${name}_bucket`,
        value: total,
        labels: { le: boundAt(at) },
        sharedLabels,
      };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, value: this.seconds, labels: {}, sharedLabels },
      { metricName: `${name}_count`, value: total, labels: {}, sharedLabels },
    ];
  }
}

function boundAt(at: number): string | number {
  return BOUNDS[at] ?? "+Inf";
}

/** The series of one metric, in the order in which they were made. */
export class TimeTable {
  private readonly all: TimeSeries[] = [];

  /** Called once for each combination of labels. */
  add(labels: Labels): TimeSeries {
    const series = new TimeSeries(labels);
    this.all.push(series);
    return series;
  }

  register(registry: Registry, name: string, help: string): void {
    registry.registerMetric(new TableHistogram(this.all, name, help));
  }
}

/** A family of series that differ in their status alone. */
export class TimesByStatus {
  private readonly series = new Map<number, TimeSeries>();

  constructor(
    private readonly table: TimeTable,
    private readonly labels: Labels,
  ) {}

  observe(status: number, elapsedMs: number): void {
    let series = this.series.get(status);
    if (series === undefined) {
      series = this.table.add({ ...this.labels, status });
      this.series.set(status, series);
    }
    series.observe(elapsedMs);
  }
}

class TableHistogram extends Histogram {
  constructor(
    private readonly series: readonly TimeSeries[],
    private readonly metricName: string,
    private readonly helpText: string,
  ) {
    super({ name: metricName, help: helpText, labelNames: [], registers: [] });
  }

  /** What the registry, and `get`, read. */
  async getForPromString() {
    const { series, metricName: name, helpText: help } = this;
    const values = series.flatMap((one) => one.valuesOf(name));
    return { name, help, type: "histogram", values, aggregator: "sum" };
  }
}
