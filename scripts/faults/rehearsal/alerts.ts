import { output, programAt } from "../../scene/system.ts";
import { type Finding, notInstalled, require } from "./tools.ts";

/** Prometheus' own tool reads the alert rules, and evaluates each with series that make it fire and that do not. */
export async function rehearseAlerts(): Promise<Finding[]> {
  const promtool = programAt("promtool");
  if (promtool === null) return [notInstalled("alert rules", "promtool", "prometheus")];
  const checked = await output(promtool, ["check", "config", "prometheus.yml"], "ops");
  const rules = /SUCCESS: (\d+) rules found/.exec(checked)?.[1];
  require(rules !== undefined, checked);
  const tested = await output(promtool, ["test", "rules", "alerts.test.yml"], "ops");
  require(tested.endsWith("SUCCESS"), tested);
  return [
    { what: "promtool check config ops/prometheus.yml", result: `valid, ${rules} rules` },
    { what: "promtool test rules ops/alerts.test.yml", result: "each rule fires, and stays quiet below its limit" },
  ];
}
