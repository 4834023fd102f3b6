import { useEffect, useRef, useState } from "preact/hooks";

import type { paths } from "../../client/document.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Table } from "../parts/table.tsx";
import { Ether, Moment } from "../parts/when.tsx";
import { ether } from "../service/format.ts";
import type { PlotData } from "./plot.ts";

type Answer = paths["/v1/operator/series"]["get"]["responses"]["200"]["content"]["application/json"];
type Point = Answer["points"][number];

const ETHER = 1e18;
const SECOND_MS = 1_000;

/** What became final over time, drawn and as a table. */
export function Charts({ points }: { points: readonly Point[] }) {
  const busy = points.filter(({ completed, failed }) => completed + failed > 0);
  if (busy.length === 0) {
    return (
      <EmptyState title="No request became final in this time">Choose a longer time, or come back later.</EmptyState>
    );
  }
  const times = points.map(({ at }) => Date.parse(at) / SECOND_MS);
  const sum = (name: "completed" | "failed") => points.reduce((total, point) => total + point[name], 0);
  const fees = points.reduce((total, point) => total + BigInt(point.fee_wei), 0n).toString();
  return (
    <>
      <p>
        {sum("completed").toLocaleString("en")} requests completed, {sum("failed").toLocaleString("en")} failed. Their
        fees: <Ether wei={fees} />.
      </p>
      <div class="charts">
        <Chart
          title="Requests"
          data={{
            times,
            lines: [
              { label: "Completed", colour: "--good", values: points.map(({ completed }) => completed) },
              { label: "Failed", colour: "--bad", values: points.map(({ failed }) => failed) },
            ],
            write: (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }),
          }}
        />
        <Chart
          title="Latency, from acceptance to the outcome"
          data={{
            times,
            lines: [
              { label: "Half within", colour: "--accent", values: points.map((point) => point.latency_p50_ms) },
              { label: "95 % within", colour: "--warning", values: points.map((point) => point.latency_p95_ms) },
            ],
            write: latency,
          }}
        />
        <Chart
          title="Fees"
          data={{
            times,
            lines: [
              { label: "Fees", colour: "--accent", values: points.map((point) => Number(point.fee_wei) / ETHER) },
            ],
            write: (value) => ether(BigInt(Math.round(value * ETHER)).toString()),
          }}
        />
      </div>
      <details>
        <summary>The charts as a table</summary>
        <PointsTable points={busy} />
      </details>
    </>
  );
}

function PointsTable({ points }: { points: readonly Point[] }) {
  return (
    <Table
      caption="Requests, latency and fees over time"
      rows={points}
      keyOf={({ at }) => at}
      columns={[
        { head: "From", cell: ({ at }) => <Moment time={at} /> },
        { head: "Completed", right: true, cell: ({ completed }) => completed },
        { head: "Failed", right: true, cell: ({ failed }) => failed },
        { head: "Half within", right: true, cell: ({ latency_p50_ms: ms }) => (ms === null ? "–" : latency(ms)) },
        { head: "95 % within", right: true, cell: ({ latency_p95_ms: ms }) => (ms === null ? "–" : latency(ms)) },
        { head: "Fees", right: true, cell: ({ fee_wei }) => <Ether wei={fee_wei} /> },
      ]}
    />
  );
}

function latency(ms: number): string {
  return ms < SECOND_MS ? `${Math.round(ms).toString()} ms` : `${(ms / SECOND_MS).toFixed(1)} s`;
}

/** A drawing. Screen readers get the table below the charts instead. */
function Chart({ title, data }: { title: string; data: PlotData }) {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let stop: (() => void) | null = null;
    let gone = false;
    // The library is large and draws only here.
    import("./plot.ts").then(
      ({ drawPlot }) => {
        if (!gone && host.current !== null) stop = drawPlot(host.current, data);
      },
      (problem: unknown) => {
        setError(problem);
      },
    );
    return () => {
      gone = true;
      stop?.();
    };
  }, [data.times]);
  return (
    <figure class="chart card">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      {error === null ? <div ref={host} aria-hidden="true" /> : <ErrorNote error={error} />}
    </figure>
  );
}
