import pg from "pg";

interface Node {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  Plans?: Node[];
}

type Value = string | number | bigint | null;

interface Statement {
  text: string;
  values?: Value[];
}

type Query = (this: pg.Client, statement: string | Statement, values?: Value[]) => Promise<{ rows: Row[] }>;
type Row = Record<string, unknown>;

interface PlannedStatement {
  text: string;
  plan: Node;
}

/** After so many runs of a prepared statement, the server has chosen: one plan for all values, or a new one for each run. */
const RUNS = 7;

/**
 * The plans of the statements that `work` runs: as the server makes them first, and as it does when they are prepared.
 * @param url of the database. Statements for others are left out: a service that test files share may work meanwhile.
 */
export async function plansOf(url: string, work: () => Promise<unknown>): Promise<PlannedStatement[]> {
  const name = new URL(url).pathname.slice(1);
  const plans: PlannedStatement[] = [];
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = async function (statement, ...others) {
    const { text, values = [] } = typeof statement === "string" ? { text: statement, values: others[0] } : statement;
    if (this.database === name && values.length > 0 && /^\s*(select|with|insert|update|delete)\b/i.test(text)) {
      const given = values.map((value) => (value === null ? "null" : pg.escapeLiteral(String(value)))).join(", ");
      await query.call(this, `prepare probe as ${text}`);
      for (let run = 1; run <= RUNS; run++) {
        const { rows } = await query.call(this, `explain (format json) execute probe (${given})`);
        const [{ Plan: plan }] = rows[0]?.["QUERY PLAN"] as [{ Plan: Node }];
        if (run === 1 || run === RUNS)
          plans.push({ text: `run ${run.toString()}: ${text.replace(/\s+/g, " ")}`, plan });
      }
      await query.call(this, "deallocate probe");
    }
    return query.call(this, statement, ...others);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return plans;
}

/** The indexes that a plan reads. */
export function indexesOf(node: Node): string[] {
  const own = node["Index Name"] === undefined ? [] : [node["Index Name"]];
  return [...own, ...(node.Plans ?? []).flatMap(indexesOf)];
}

/** The tables that a plan reads from end to end. */
export function scannedTables(node: Node): string[] {
  const own = node["Node Type"] === "Seq Scan" ? [node["Relation Name"] ?? ""] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scannedTables)];
}
