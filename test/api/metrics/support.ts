import { eventually } from "../../support/eventually.ts";

/** One sample of the text format of Prometheus. */
interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The answer of `/metrics`. */
export class Scrape {
  readonly text: string;
  readonly samples: Sample[];
  /** Names of metrics, also of those without a sample. */
  readonly names: Set<string>;

  constructor(text: string) {
    this.text = text;
    const lines = text.split("\n").filter((line) => line !== "");
    this.samples = lines.filter((line) => !line.startsWith("#")).map(sampleOf);
    this.names = new Set(lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []));
  }

  /** The value of the one sample with this name and at least these labels; undefined when there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    if (found.length > 1) throw new Error(`${name} has ${found.length.toString()} samples with these labels`);
    return found[0]?.value;
  }
}

export async function scrape(port: number | null): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status.toString()}`);
  return new Scrape(await response.text());
}

/** The first scrape that fits: a step is counted just after its commit, and figures of sources are some seconds old. */
export function scrapeOnce(port: number | null, fits: (found: Scrape) => boolean): Promise<Scrape> {
  return eventually(async () => {
    const found = await scrape(port);
    return fits(found) ? found : undefined;
  });
}

function sampleOf(line: string): Sample {
  const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", labels = "", value = ""] = match;
  const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = "", text = ""]) => [key, text]);
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
}
