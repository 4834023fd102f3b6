// The order matters: the first import prepares the browser for the second.
import { restoreLanguage } from "./plot-language.ts";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/* Loaded only by the operator's charts: nothing else imports uPlot. */

restoreLanguage();

interface Line {
  label: string;
  /** A custom property of the style sheet, such as `--accent`. */
  colour: string;
  /** One for each time. null: there is none, which leaves a gap. */
  values: (number | null)[];
  /** What the legend says of the whole range, while no pointer names a time. */
  whole: string;
}

export interface PlotData {
  /** Seconds since 1970, in order. */
  times: number[];
  lines: Line[];
  /** How the axis and the legend write a value. */
  write: (value: number) => string;
}

const HEIGHT = 200;
/** Between the texts of an axis and the drawing, and beside them. */
const AXIS_GAP = 16;
const DAY_SECONDS = 86_400;
/** Fewer values than this are drawn as points, because a line needs neighbours. */
const FEW = 30;

/** Draws into the element, follows its width and the colours of the page. @returns a function that ends that. */
export function drawPlot(host: HTMLElement, data: PlotData): () => void {
  let plot = create(host, data);
  const resized = new ResizeObserver(() => {
    plot.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  resized.observe(host);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    plot.destroy();
    plot = create(host, data);
  };
  dark.addEventListener("change", redraw);
  return () => {
    dark.removeEventListener("change", redraw);
    resized.disconnect();
    plot.destroy();
  };
}

function create(host: HTMLElement, { times, lines, write }: PlotData): uPlot {
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: HEIGHT,
    // Dragging zooms otherwise, which a page that scrolls by touch must not do.
    cursor: { drag: { x: false, y: false }, y: false },
    legend: { live: true },
    scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [axis, { ...axis, size: widthOf, values: (_plot, values) => values.map((value) => write(value)) }],
    series: [
      {
        label: "Time",
        value: (_plot: uPlot, at: number | null) => (at === null ? "whole range" : timeOf(at, span)),
      },
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 2,
        points: { show: line.values.filter((value) => value !== null).length < FEW },
        // The library types the value as a number; it is null where there is none. Without a pointer there is no place.
        value: (_plot: uPlot, value: number | null, _line: number, place: number | null) => {
          if (place === null) return line.whole;
          return value === null ? "none" : write(value);
        },
      })),
    ],
  };
  return new uPlot(options, [times, ...lines.map((line) => line.values)], host);
}

/** As wide as the longest text of the axis, so that the drawing has the rest of the card. */
function widthOf(plot: uPlot, texts: string[] | null): number {
  const { ctx } = plot;
  ctx.save();
  // The library draws in pixels of the device.
  ctx.font = `${(12 * devicePixelRatio).toString()}px system-ui, sans-serif`;
  const longest = Math.max(0, ...(texts ?? []).map((text) => ctx.measureText(text).width));
  ctx.restore();
  return Math.ceil(longest / devicePixelRatio) + AXIS_GAP;
}

/** Within a day the time is enough; over several days the date belongs to it. */
function timeOf(at: number, span: number): string {
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  return new Date(at * 1_000).toLocaleString(
    undefined,
    span <= DAY_SECONDS ? time : { month: "short", day: "numeric", ...time },
  );
}
