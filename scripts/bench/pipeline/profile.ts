import { readFileSync } from "node:fs";
import { sep } from "node:path";

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  timeDeltas: number[];
}

/** The self time of each package and folder in a CPU profile (V8's format), the most expensive one first. */
export function costsOf(file: string): { where: string; percent: number }[] {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8")) as Profile;
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame.functionName, callFrame.url)]));
  const times = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const place = places.get(id) ?? "unknown";
    if (place === "(idle)") continue;
    const time = timeDeltas[index] ?? 0;
    busy += time;
    times.set(place, (times.get(place) ?? 0) + time);
  }
  return [...times]
    .map(([where, time]) => ({ where, percent: (100 * time) / busy }))
    .sort((one, other) => other.percent - one.percent);
}

/** A package, a folder of the service, a module of Node, or V8's own name for its work. */
function placeOf(name: string, url: string): string {
  if (url === "") return name.startsWith("(") ? name : "built-in functions";
  if (url.startsWith("node:")) return url.split("/")[0] ?? url;
  if (url.startsWith("wasm:")) return "WebAssembly";
  const parts = url.replaceAll(sep, "/").split("/");
  const packages = parts.lastIndexOf("node_modules");
  if (packages >= 0)
    return parts.slice(packages + 1, packages + (parts[packages + 1]?.startsWith("@") ? 3 : 2)).join("/");
  const api = parts.lastIndexOf("api");
  return api >= 0 ? parts.slice(api, api + 2).join("/") : "the benchmark";
}
