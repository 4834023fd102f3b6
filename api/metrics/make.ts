import { Counter, Gauge, Histogram, type Registry } from "prom-client";

interface Described<L extends string> {
  name: string;
  help: string;
  labels?: readonly L[];
}

/** Adds a counter of the catalog to a registry. */
export function counter<L extends string = never>(registry: Registry, { name, help, labels }: Described<L>) {
  return new Counter<L>({ name, help, labelNames: labels ?? [], registers: [registry] });
}

/** Adds a gauge of the catalog to a registry. */
export function gauge<L extends string = never>(registry: Registry, { name, help, labels }: Described<L>) {
  return new Gauge<L>({ name, help, labelNames: labels ?? [], registers: [registry] });
}

/** Adds a histogram of the catalog to a registry. */
export function histogram<L extends string = never>(
  registry: Registry,
  { name, help, labels, buckets }: Described<L> & { buckets: readonly number[] },
) {
  return new Histogram<L>({ name, help, labelNames: labels ?? [], buckets: [...buckets], registers: [registry] });
}
