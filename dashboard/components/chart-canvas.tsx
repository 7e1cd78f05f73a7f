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
import type { ChartProps, Series } from './chart-props.ts';

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

/** The variable of the design for each tone. */
const COLORS: Record<Series['tone'], string> = { accent: 'accent', quiet: 'line-strong' };

/** A variable of the design as a color that a canvas takes: `light-dark()` is resolved by an element that uses it. */
function colorOf(name: string, probe: HTMLElement): string {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** The drawing. It is made anew when its numbers or the look of the page change. */
export function ChartCanvas({ kind, points, series, format, min, max }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => {
      const color = (name: string) => colorOf(name, element);
      const ticks = { color: color('muted'), font: { family: getComputedStyle(element).fontFamily } };
      return new Chart(element, {
        type: kind,
        data: {
          labels: points,
          datasets: series.map(({ label, values, tone }) => ({
            label,
            data: values,
            backgroundColor: color(COLORS[tone]),
            borderColor: color(COLORS[tone]),
            borderRadius: kind === 'bar' ? 4 : undefined,
            borderWidth: kind === 'bar' ? 0 : 2,
            maxBarThickness: 44,
            pointRadius: points.length > 40 ? 0 : 3,
            tension: 0.25,
            spanGaps: true,
          })),
        },
        options: {
          maintainAspectRatio: false,
          animation: false,
          interaction: { mode: 'index', intersect: false },
          plugins: { tooltip: { callbacks: { label: item => `${item.dataset.label}: ${format(Number(item.raw))}` } } },
          scales: {
            x: {
              grid: { display: false },
              border: { color: color('line') },
              ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 16 },
            },
            y: {
              min,
              max,
              beginAtZero: min === undefined,
              grid: { color: color('line') },
              border: { display: false },
              ticks: { ...ticks, maxTicksLimit: 6, callback: value => format(Number(value)) },
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
