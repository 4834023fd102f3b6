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
}

export interface PlotData {
  /** Seconds since 1970, in order. */
  times: number[];
  lines: Line[];
  /** How the axis and the legend write a value. */
  write: (value: number) => string;
}

const HEIGHT = 200;
const AXIS_WIDTH = 96;
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
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: HEIGHT,
    // Dragging zooms otherwise, which a page that scrolls by touch must not do.
    cursor: { drag: { x: false, y: false }, y: false },
    legend: { live: true },
    scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [axis, { ...axis, size: AXIS_WIDTH, values: (_plot, values) => values.map((value) => write(value)) }],
    series: [
      {
        label: "Time",
        value: (_plot: uPlot, at: number | null) => (at === null ? "latest" : new Date(at * 1_000).toLocaleString()),
      },
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 2,
        points: { show: line.values.filter((value) => value !== null).length < FEW },
        // The library types the value as a number; it is null where there is none. Without a pointer there is no place.
        value: (_plot: uPlot, value: number | null, _line: number, place: number | null) => {
          const shown = place === null ? (line.values.findLast((one) => one !== null) ?? null) : value;
          return shown === null ? "none" : write(shown);
        },
      })),
    ],
  };
  return new uPlot(options, [times, ...lines.map((line) => line.values)], host);
}
