import type { Curve } from './curve.ts';
import { short } from './numbers.ts';

const PANEL = { width: 420, height: 240 };
const PLOT = { left: 60, right: 20, top: 40, bottom: 50 };
const COLUMNS = 2;

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const label = (x: number, y: number, text: string, anchor = 'middle'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escapeXml(text)}</text>`;

/** One curve: size on a logarithmic axis, cost on a linear axis from zero, so that a flat curve looks flat. */
function panel({ title, over, unit, points }: Curve, index: number): string {
  const [left, top] = [(index % COLUMNS) * PANEL.width, Math.floor(index / COLUMNS) * PANEL.height];
  const [width, height] = [PANEL.width - PLOT.left - PLOT.right, PANEL.height - PLOT.top - PLOT.bottom];
  const logs = points.map(({ x }) => Math.log10(x));
  const [first = 0, last = 1] = [logs[0], logs.at(-1)];
  const highest = Math.max(...points.map(({ y }) => y)) * 1.2;
  const places = points.map(({ x, y }, place) => ({
    x: PLOT.left + (width * ((logs[place] ?? 0) - first)) / (last - first || 1),
    y: PLOT.top + height * (1 - y / highest),
    size: x,
    value: y,
  }));
  const bottom = PLOT.top + height;
  return [
    `<g transform="translate(${left} ${top})">`,
    label(PANEL.width / 2, 20, `${title}, ${unit}`),
    `<path class="axis" d="M${PLOT.left} ${PLOT.top}V${bottom}H${PLOT.left + width}"/>`,
    label(PLOT.left - 8, bottom, '0', 'end'),
    label(PLOT.left - 8, PLOT.top + 5, short(highest), 'end'),
    `<polyline points="${places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')}"/>`,
    ...places.map(({ x, y }) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3"/>`),
    ...places.map(({ x, y, value }) => label(x, y - 8, short(value))),
    ...places.map(({ x, size }) => label(x, bottom + 18, size.toLocaleString('en', { notation: 'compact' }))),
    label(PLOT.left + width / 2, bottom + 38, over),
    '</g>',
  ].join('\n');
}

/** Returns the growth curves as one SVG. */
export function drawCurves(curves: Curve[]): string {
  const [width, height] = [PANEL.width * COLUMNS, PANEL.height * Math.ceil(curves.length / COLUMNS)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>What one more costs while the rest grows</title>
<style>
text { font: 12px sans-serif; fill: #333 }
polyline { fill: none; stroke: #2563eb; stroke-width: 2 }
circle { fill: #2563eb }
.axis { fill: none; stroke: #999 }
</style>
<rect width="100%" height="100%" fill="#fff"/>
${curves.map(panel).join('\n')}
</svg>
`;
}
