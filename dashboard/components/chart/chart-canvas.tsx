import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartOptions,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from 'chart.js';
import { useEffect, useRef } from 'react';
import { datasetsOf } from './chart-data.ts';
import { type Look, valueLabels, versionMarks } from './chart-labels.ts';
import type { ChartProps } from './chart-props.ts';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

type Kind = 'bar' | 'line';

/** Maximum number of bars with value labels instead of an axis. */
const MAX_LABELLED_BARS = 12;

/** Resolves a CSS variable to `#rrggbb`; an element is needed to resolve `light-dark()`. */
function colorOf(name: string, probe: HTMLElement): string {
  probe.style.color = `var(--${name})`;
  const [red = 0, green = 0, blue = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? [];
  return `#${[red, green, blue].map(part => part.toString(16).padStart(2, '0')).join('')}`;
}

function lookOf({ kind, points, series, marks = [], format }: ChartProps, element: HTMLElement): Look {
  return {
    text: colorOf('text', element),
    muted: colorOf('muted', element),
    line: colorOf('line', element),
    family: getComputedStyle(element).fontFamily,
    isLabelled: kind === 'bar' && series.length === 1 && points.length <= MAX_LABELLED_BARS,
    marks,
    format,
  };
}

function optionsOf({ kind, hrefs, min, max }: ChartProps, look: Look, pick: (at: number) => void): ChartOptions<Kind> {
  const ticks = { color: look.muted, font: { family: look.family } };
  return {
    maintainAspectRatio: false,
    animation: false,
    layout: { padding: { top: look.isLabelled ? 20 : 4 } },
    interaction: { mode: 'index', intersect: false },
    onClick: (_, [hit]) => hit && pick(hit.index),
    onHover: (event, hits) => {
      const target = event.native?.target;
      if (target instanceof HTMLElement) target.style.cursor = hrefs && hits.length > 0 ? 'pointer' : '';
    },
    plugins: {
      tooltip: {
        filter: item => item.dataset.label !== '', // bands
        callbacks: { label: item => `${item.dataset.label}: ${look.format(Number(item.raw))}` },
      },
    },
    scales: {
      x: {
        grid: { display: false },
        border: { color: look.line },
        ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 16 },
      },
      y: {
        display: !look.isLabelled,
        min,
        max,
        beginAtZero: min === undefined,
        grid: { color: look.line },
        border: { display: false },
        ticks: {
          ...ticks,
          precision: kind === 'bar' ? 0 : undefined,
          maxTicksLimit: 6,
          callback: value => look.format(Number(value)),
        },
      },
    },
  };
}

/** Applies the properties to the chart in place, so that its tooltip stays. */
function update(chart: Chart<Kind>, props: ChartProps, look: Look, pick: (at: number) => void): void {
  const datasets = datasetsOf(props, tone => colorOf(`chart-${tone}`, chart.canvas));
  chart.data.labels = props.points;
  chart.data.datasets.length = Math.min(chart.data.datasets.length, datasets.length);
  for (const [at, dataset] of datasets.entries()) {
    const old = chart.data.datasets[at];
    if (old) Object.assign(old, dataset);
    else chart.data.datasets.push(dataset);
  }
  chart.options = optionsOf(props, look, pick) as typeof chart.options;
  chart.update('none');
}

/** Draws the chart, and updates it when the data or the theme change. `open` gets the page behind a clicked point. */
export function ChartCanvas({ open, ...props }: ChartProps & { open(href: string): void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<Chart<Kind>>(undefined);
  const current = useRef({ props, open });
  current.current = { props, open };
  const look = useRef<Look>(undefined);
  const { kind } = props;
  const apply = () => {
    if (!chart.current) return;
    look.current = lookOf(current.current.props, chart.current.canvas);
    update(chart.current, current.current.props, look.current, at => {
      const href = current.current.props.hrefs?.[at];
      if (href) current.current.open(href);
    });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: apply only uses refs
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const lookNow = () => (look.current ??= lookOf(current.current.props, element));
    const plugins = [valueLabels(lookNow), versionMarks(lookNow)];
    chart.current = new Chart<Kind>(element, { type: kind, plugins, data: { labels: [], datasets: [] } });
    apply();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const theme = new MutationObserver(apply);
    scheme.addEventListener('change', apply);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      scheme.removeEventListener('change', apply);
      theme.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, [kind]);
  const data = JSON.stringify([props.points, props.series, props.marks, props.min, props.max]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the data
  useEffect(apply, [data, props.format]);
  return <canvas ref={canvas} />;
}
