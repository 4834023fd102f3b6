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
  const fees = points.reduce((total, point) => total + BigInt(point.fee_wei), 0n).toString();
  return (
    <>
      <p>
        {sumOf(points, "completed")} requests completed, {sumOf(points, "failed")} failed. Their fees:{" "}
        <Ether wei={fees} />.
      </p>
      <div class="charts">
        {plotsOf(points, fees).map(([title, data]) => (
          <Chart key={title} title={title} data={data} />
        ))}
      </div>
      <details>
        <summary>The charts as a table</summary>
        <PointsTable points={busy} />
      </details>
    </>
  );
}

function sumOf(points: readonly Point[], name: "completed" | "failed"): string {
  return points.reduce((total, point) => total + point[name], 0).toLocaleString("en");
}

/** @param fees of all points together, in wei */
function plotsOf(points: readonly Point[], fees: string): [title: string, data: PlotData][] {
  const times = points.map(({ at }) => Date.parse(at) / SECOND_MS);
  const final = (label: string, colour: string, name: "completed" | "failed") => ({
    label,
    colour,
    values: points.map((point) => point[name]),
    whole: sumOf(points, name),
  });
  const within = (label: string, colour: string, name: "latency_p50_ms" | "latency_p95_ms") => {
    const values = points.map((point) => point[name]);
    return { label, colour, values, whole: upTo(values) };
  };
  const paid = points.map((point) => Number(point.fee_wei) / ETHER);
  return [
    [
      "Requests",
      {
        times,
        lines: [final("Completed", "--good", "completed"), final("Failed", "--bad", "failed")],
        write: (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }),
      },
    ],
    [
      "Latency",
      {
        times,
        lines: [
          within("Half within", "--accent", "latency_p50_ms"),
          within("95 % within", "--warning", "latency_p95_ms"),
        ],
        write: latency,
      },
    ],
    [
      "Fees",
      {
        times,
        lines: [{ label: "Fees", colour: "--accent", values: paid, whole: ether(fees) }],
        write: (value) => ether(BigInt(Math.round(value * ETHER)).toString()),
      },
    ],
  ];
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

/** The longest of the range. */
function upTo(latencies: readonly (number | null)[]): string {
  const known = latencies.filter((ms) => ms !== null);
  return known.length === 0 ? "none" : `up to ${latency(Math.max(...known))}`;
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
