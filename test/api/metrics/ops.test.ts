import { readFileSync } from "node:fs";

import { parser } from "@prometheus-io/lezer-promql";
import { expect } from "chai";
import { parse } from "yaml";

import { METRICS } from "../../../api/metrics/catalog.ts";
import { useService } from "../../support/use-service.ts";
import { scrapeOnce } from "./support.ts";

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
}

const { groups } = parse(fileOf("ops/alerts.yml")) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(fileOf("ops/grafana.json")) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};

/** What Prometheus adds by itself. */
const OF_PROMETHEUS = { names: ["up"], labels: ["job", "instance", "le"] };
/** Series of a histogram. */
const PARTS = /_(bucket|count|sum)$/;

describe("alert rules and dashboard", () => {
  const moneta = useService();
  const expressions = () => [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];

  it("parse as PromQL", () => {
    expect(expressions().length).to.be.above(40);
    for (const { where, expr } of expressions()) expect(problemOf(expr), `${where}: ${expr}`).to.equal(null);
    expect(problemOf("sum(rate(moneta_backlog[5m])")).to.be.a("string");
  });

  it("name only metrics that a running service has, with their labels", async () => {
    const catalog: readonly { name: string; labels?: readonly string[] }[] = Object.values(METRICS);
    const { names } = await scrapeOnce(moneta.service.metricsPort, (now) =>
      catalog.every(({ name }) => now.names.has(name)),
    );
    for (const { where, expr } of expressions()) {
      for (const { name, labels } of selectorsOf(expr)) {
        if (OF_PROMETHEUS.names.includes(name)) continue;
        const base = names.has(name) ? name : name.replace(PARTS, "");
        expect(names.has(base), `${where}: ${name}`).to.equal(true);
        const known = [...OF_PROMETHEUS.labels, ...(catalog.find((metric) => metric.name === base)?.labels ?? [])];
        expect(known, `${where}: ${name}`).to.include.members(labels);
      }
    }
    expect(selectorsOf('max(a{b="1"}) / sum by (x) (rate(c_bucket[5m]))')).to.deep.equal([
      { name: "a", labels: ["b"] },
      { name: "c_bucket", labels: [] },
    ]);
  });

  it("find the buckets of histograms in Prometheus 2 and 3, which writes whole limits as 5.0", () => {
    const text = readFileSync("ops/alerts.yml", "utf8") + readFileSync("ops/grafana.json", "utf8");
    expect(text.match(/\ble=\\?"\d+\\?"/g)).to.equal(null);
  });

  it("have complete rules, and panels with ids of their own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(["critical", "warning", "info"], alert).to.include(labels.severity);
      expect(annotations.summary, alert).to.be.a("string").that.is.not.equal("");
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).to.equal(dashboard.panels.length);
  });

  it("have tests for Prometheus' own tool: each fires, and stays quiet", () => {
    const { tests } = parse(fileOf("ops/alerts.test.yml")) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
    };
    const seen = tests.flatMap((test) => test.alert_rule_test).map((one) => [one.alertname, one.exp_alerts.length > 0]);
    expect(seen).to.have.deep.members(
      rules.flatMap(({ alert }) => [
        [alert, true],
        [alert, false],
      ]),
    );
  });

  it("are explained in docs/operations.md, one section for each alert", () => {
    const sections = [...fileOf("docs/operations.md").matchAll(/^### (Moneta\w+)$/gm)].map(([, name]) => name);
    expect(sections).to.have.members(rules.map(({ alert }) => alert));
  });
});

function fileOf(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}

/** Null when the expression parses. Variables of Grafana count as a duration. */
function problemOf(expr: string): string | null {
  const text = plain(expr);
  let problem: string | null = null;
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) problem ??= `at ${node.from.toString()}: ${text.slice(node.from, node.from + 20)}`;
    },
  });
  return problem;
}

/** The metrics that an expression reads, and the labels that it compares. */
function selectorsOf(expr: string): { name: string; labels: string[] }[] {
  const text = plain(expr);
  const found: { name: string; labels: string[] }[] = [];
  parser.parse(text).iterate({
    enter: ({ name: type, from, to }) => {
      if (type === "VectorSelector") found.push({ name: /^\w+/.exec(text.slice(from, to))?.[0] ?? "", labels: [] });
      if (type === "LabelName" && found.length > 0 && isMatcher(text, to))
        found.at(-1)?.labels.push(text.slice(from, to));
    },
  });
  return found;
}

/** Whether a comparison follows: names in `by (...)` have none. */
function isMatcher(text: string, at: number): boolean {
  return /^\s*(=|!=|=~|!~)/.test(text.slice(at));
}

function plain(expr: string): string {
  return expr.replaceAll("$__rate_interval", "5m");
}
