import type { ComponentChildren } from "preact";

import { answerOf, type Shape } from "../../client/client.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Address } from "../parts/copyable.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Prose } from "../parts/prose.tsx";
import { Table } from "../parts/table.tsx";
import { Ether, Moment } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { duration } from "../service/format.ts";
import { explorerLink } from "../service/links.ts";
import { useData } from "../service/use-data.ts";
import { TopUp } from "./top-up.tsx";

type Status = Shape<"OperatorStatus">;
type Lane = Status["lanes"][number];

const RESULTS = { ok: "good", warning: "warning", problem: "bad" } as const;

/** What waits, how far the indexer is, and the lanes that pay. */
export function OperatorStatus() {
  const { data, error, loading, reload } = useData(() => answerOf(client().GET("/v1/operator/status")), []);
  return (
    <section class="stack">
      <div class="screen-head">
        <h2>State</h2>
        <Button busy={loading} onClick={reload}>
          Read again
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <>
          <Figures status={data} />
          {data.nodes.length > 0 && <Nodes nodes={data.nodes} />}
          <Lanes lanes={data.lanes} />
          <TopUp lanes={data.lanes} />
        </>
      )}
    </section>
  );
}

function Figures({ status }: { status: Status }) {
  const { backlog, deliveries, indexer, oldest_pending_seconds: oldest, checks } = status;
  const faults = Object.entries(checks).filter(([, text]) => text !== "ok");
  return (
    <div class="card stack">
      <p>{status.ready ? <Badge kind="good">Ready</Badge> : <Badge kind="bad">Not ready</Badge>}</p>
      {faults.length > 0 && (
        <ul class="note note-error">
          {faults.map(([name, text]) => (
            <li key={name}>
              <code>{name}</code>: <Prose text={text} />
            </li>
          ))}
        </ul>
      )}
      {status.relay_paused === true && <p class="note note-warning">The relay is paused: nothing can be sent.</p>}
      <dl class="facts">
        <Fact name="Backlog">
          {backlog.media} wait for media, {backlog.pending} to be sent, {backlog.processing} for a block
        </Fact>
        <Fact name="Oldest waiting">{oldest === null ? "none" : duration(oldest)}</Fact>
        <Fact name="Indexer">
          block {indexer.checkpoint}
          {indexer.lag_blocks === null
            ? " (the node does not answer)"
            : `, ${indexer.lag_blocks.toString()} blocks behind`}
        </Fact>
        <Fact name="Deliveries">
          {deliveries.waiting} waiting, {deliveries.dead} failed
        </Fact>
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Nodes({ nodes }: { nodes: Status["nodes"] }) {
  return (
    <Table
      caption="Nodes of the chain, the preferred one first"
      rows={nodes}
      keyOf={({ node }) => node.toString()}
      columns={[
        { head: "Node", cell: ({ node, host }) => `${node.toString()} ${host}` },
        {
          head: "State",
          cell: ({ state, problem }) => (
            <>
              <Badge kind={state === "up" ? "good" : "bad"}>{state.replaceAll("_", " ")}</Badge> {problem}
            </>
          ),
        },
        { head: "Newest block", right: true, cell: ({ head }) => head?.toLocaleString("en") ?? "–" },
        {
          head: "Latency",
          right: true,
          cell: ({ latency_ms: time }) => (time === null ? "–" : `${time.toString()} ms`),
        },
        { head: "Failures", right: true, cell: ({ failures }) => failures.toLocaleString("en") },
        { head: "Gets transactions", cell: ({ sends }) => (sends ? "yes" : "no") },
      ]}
    />
  );
}

function Lanes({ lanes }: { lanes: readonly Lane[] }) {
  if (lanes.length === 0)
    return <EmptyState title="No lanes yet">A process with the role relayer makes them.</EmptyState>;
  return (
    <Table
      caption="Lanes: the keys that send transactions and pay for them"
      rows={lanes}
      keyOf={({ address }) => address}
      columns={[
        { head: "Lane", cell: ({ lane, in_use: used }) => `${lane.toString()}${used ? "" : " (finishing)"}` },
        { head: "Address", cell: ({ address }) => <Address value={address} link={explorerLink({ address })} /> },
        {
          head: "Balance",
          right: true,
          cell: ({ balance_wei: wei, low_funds: low }) => (
            <>
              {wei === null ? "not known" : <Ether wei={wei} />} {low === true && <Badge kind="bad">Low</Badge>}
            </>
          ),
        },
        {
          head: "Last 24 h",
          right: true,
          cell: ({ spent_24h_wei: wei }) => (wei === null ? "–" : <Ether wei={wei} />),
        },
        {
          head: "Days left",
          right: true,
          cell: ({ days_left: days }) => (days === null ? "–" : Math.floor(days).toLocaleString("en")),
        },
      ]}
    />
  );
}

type Finding = Shape<"DoctorReport">["findings"][number];

/**
 * What the checks of `npm run cli -- doctor` found: first a sentence and what needs a person. However often it is read, the
 * service runs the checks only now and then.
 */
export function Doctor() {
  const { data, error, loading, reload } = useData(() => answerOf(client().GET("/v1/operator/doctor")), []);
  return (
    <section class="stack" aria-label="Doctor">
      <div class="screen-head">
        <h2>Doctor</h2>
        <Button busy={loading} onClick={reload}>
          Check again
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading what="Checking" />}
      {data !== null && (
        <div class="card stack">
          <p>
            <Badge kind={RESULTS[data.result]}>{data.result}</Badge> {summaryOf(data.findings)}{" "}
            <span class="muted">
              Checked <Moment time={data.checked_at} />
            </span>
          </p>
          <ul class="stack-small">
            {data.findings
              .filter(({ result }) => result !== "ok")
              .map(({ check, result, words }) => (
                <li key={`${check} ${words}`}>
                  <Badge kind={RESULTS[result]}>{check}</Badge> <Prose text={words} />
                </li>
              ))}
          </ul>
          <details>
            <summary>All checks</summary>
            <Findings findings={data.findings} />
          </details>
        </div>
      )}
    </section>
  );
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (wanted: Finding["result"]) => findings.filter(({ result }) => result === wanted).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (problems + warnings === 0) return "Everything is in order.";
  const named = (number: number, name: string) => `${number.toString()} ${name}${number === 1 ? "" : "s"}`;
  return `${named(problems, "problem")}, ${named(warnings, "warning")}.`;
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <Table
      caption="Findings of the checks"
      rows={findings}
      keyOf={({ check, words }) => `${check} ${words}`}
      columns={[
        { head: "Check", cell: ({ check }) => check },
        { head: "Result", cell: ({ result }) => <Badge kind={RESULTS[result]}>{result}</Badge> },
        { head: "Finding", cell: ({ words }) => <Prose text={words} /> },
      ]}
    />
  );
}
