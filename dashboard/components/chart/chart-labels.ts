import type { Plugin } from 'chart.js';
import type { Mark } from './chart-props.ts';

/** Current look of a chart; plugins read it at each drawing, because the chart is updated and not replaced. */
export interface Look {
  text: string;
  muted: string;
  line: string;
  family: string;
  /** Whether bars have their value above them. */
  isLabelled: boolean;
  marks: Mark[];
  format(value: number): string;
}

/** Chart.js plugin that writes the value above each bar. */
export const valueLabels = (look: () => Look): Plugin => ({
  id: 'value-labels',
  afterDatasetsDraw(chart) {
    const { isLabelled, text, family, format } = look();
    if (!isLabelled) return;
    const { ctx } = chart;
    ctx.save();
    Object.assign(ctx, { fillStyle: text, font: `600 12px ${family}`, textAlign: 'center' });
    for (const [at, { x, y }] of chart.getDatasetMeta(0).data.entries()) {
      const value = chart.data.datasets[0]?.data[at];
      if (typeof value === 'number' && value > 0) ctx.fillText(format(value), x, y - 6);
    }
    ctx.restore();
  },
});

/** Chart.js plugin that draws the marks as dashed lines with a label. */
export const versionMarks = (look: () => Look): Plugin => ({
  id: 'version-marks',
  afterDatasetsDraw(chart) {
    const { marks, muted, family } = look();
    const { ctx, chartArea, scales } = chart;
    ctx.save();
    Object.assign(ctx, { strokeStyle: muted, fillStyle: muted, font: `11px ${family}`, textAlign: 'left' });
    ctx.setLineDash([2, 3]);
    for (const { at, label } of marks) {
      const x = scales.x?.getPixelForValue(at) ?? 0;
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.fillText(label, x + 4, chartArea.top + 9);
    }
    ctx.restore();
  },
});
