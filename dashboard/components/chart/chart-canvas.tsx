import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from 'chart.js';
import { useEffect, useRef } from 'react';
import { valueLabels } from './chart-labels.ts';
import type { ChartProps, ChartTone, Series } from './chart-props.ts';

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

/** Maximum number of bars with value labels instead of an axis. */
const MAX_LABELLED_BARS = 12;
/** Maximum number of points for which a line has dots. */
const MAX_DOTTED_POINTS = 20;

/** Resolves a CSS variable to a color for the canvas; an element is needed to resolve `light-dark()`. */
function colorOf(name: string, probe: HTMLElement): string {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** Returns one color, or one per value. */
const colorsOf = ({ tone, tones }: Series, color: (tone: ChartTone) => string) =>
  tones ? tones.map(color) : color(tone);

/** Draws the chart; redraws it when the data or the theme change. */
export function ChartCanvas({ kind, points, series, format, min, max }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => {
      const color = (name: string) => colorOf(name, element);
      const family = getComputedStyle(element).fontFamily;
      const ticks = { color: color('muted'), font: { family } };
      const isLabelled = kind === 'bar' && series.length === 1 && points.length <= MAX_LABELLED_BARS;
      return new Chart(element, {
        type: kind,
        plugins: isLabelled ? [valueLabels({ color: color('text'), font: `600 12px ${family}`, format })] : [],
        data: {
          labels: points,
          datasets: series.map(row => ({
            label: row.label,
            data: row.values,
            backgroundColor: colorsOf(row, tone => color(`chart-${tone}`)),
            borderColor: colorsOf(row, tone => color(`chart-${tone}`)),
            borderRadius: kind === 'bar' ? 4 : undefined,
            borderWidth: kind === 'bar' ? 0 : 2,
            maxBarThickness: 48,
            pointRadius: points.length > MAX_DOTTED_POINTS ? 0 : 3,
            pointHoverRadius: 4,
            cubicInterpolationMode: 'monotone',
            spanGaps: true,
          })),
        },
        options: {
          maintainAspectRatio: false,
          animation: false,
          layout: { padding: { top: isLabelled ? 20 : 4 } },
          interaction: { mode: 'index', intersect: false },
          plugins: { tooltip: { callbacks: { label: item => `${item.dataset.label}: ${format(Number(item.raw))}` } } },
          scales: {
            x: {
              grid: { display: false },
              border: { color: color('line') },
              ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 16 },
            },
            y: {
              display: !isLabelled,
              min,
              max,
              beginAtZero: min === undefined,
              grid: { color: color('line') },
              border: { display: false },
              ticks: {
                ...ticks,
                precision: kind === 'bar' ? 0 : undefined,
                maxTicksLimit: 6,
                callback: value => format(Number(value)),
              },
            },
          },
        },
      });
    };
    let chart = draw();
    const redraw = () => {
      chart.destroy();
      chart = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const theme = new MutationObserver(redraw);
    scheme.addEventListener('change', redraw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      scheme.removeEventListener('change', redraw);
      theme.disconnect();
      chart.destroy();
    };
  }, [kind, points, series, format, min, max]);
  return <canvas ref={canvas} />;
}
