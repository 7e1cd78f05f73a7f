import type { Plugin } from 'chart.js';

interface Look {
  color: string;
  font: string;
  format(value: number): string;
}

/** Chart.js plugin that writes the value above each bar. */
export const valueLabels = ({ color, font, format }: Look): Plugin => ({
  id: 'value-labels',
  afterDatasetsDraw(chart) {
    const { ctx } = chart;
    ctx.save();
    Object.assign(ctx, { fillStyle: color, font, textAlign: 'center' });
    for (const [at, { x, y }] of chart.getDatasetMeta(0).data.entries()) {
      const value = chart.data.datasets[0]?.data[at];
      if (typeof value === 'number' && value > 0) ctx.fillText(format(value), x, y - 6);
    }
    ctx.restore();
  },
});
