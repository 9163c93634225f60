/** Metrics that are kept as numbers and copied when they are collected. */

import { Counter, Gauge, type Registry } from "prom-client";

/** A counter whose value `sum` returns. */
export function summed(registry: Registry, name: string, help: string, sum: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sum());
    },
  });
}

/** A gauge whose value `read` returns. */
export function gauged(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}

/** A gauge with labels, whose values `read` returns with those of its labels. */
export function gaugedBy<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  read: () => Iterable<readonly [Readonly<Record<Label, string>>, number]>,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.set(labels, value);
    },
  });
}

/** A counter with one label, whose values `counts` returns by the label's value. */
export function summedBy(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  counts: () => Iterable<readonly [string | number, number]>,
): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, count] of counts()) this.inc({ [label]: value }, count);
    },
  });
}

/** Adds to a count of a map. */
export function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
