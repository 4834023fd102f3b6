import { METRICS } from "../../api/metrics/catalog.ts";

/** Every metric of the service, as Markdown. */
export function metricsTable(): string {
  const all: readonly { name: string; kind: string; help: string; labels?: readonly string[] }[] =
    Object.values(METRICS);
  const rows = all.map(({ name, kind, help, labels = [] }) => {
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${kind} | ${names} | ${help} |`;
  });
  return ["| Metric | Kind | Labels | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}
