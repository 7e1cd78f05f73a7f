/** One line of a plot: time in days, height in MB. */
export interface Line {
  name: string;
  color: string;
  points: { x: number; y: number }[];
}

const SIZE = { width: 840, height: 420 };
const PLOT = { left: 60, right: 20, top: 50, bottom: 50 };
const [WIDTH, HEIGHT] = [SIZE.width - PLOT.left - PLOT.right, SIZE.height - PLOT.top - PLOT.bottom];
const DAYS = 7;
const GRID = 4;

const text = (x: number, y: number, said: string, anchor = 'middle', color = '#333') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${color}">${said}</text>`;

/** Returns the memory over simulated days as an SVG, with an axis from zero so that a flat line looks flat. */
export function drawLines(title: string, lines: Line[]): string {
  const highest = Math.ceil(Math.max(...lines.flatMap(({ points }) => points.map(({ y }) => y))) / 100) * 100;
  const placeX = (x: number) => PLOT.left + (WIDTH * x) / DAYS;
  const placeY = (y: number) => PLOT.top + HEIGHT * (1 - y / highest);
  const rows = Array.from({ length: GRID + 1 }, (_, row) => (highest * row) / GRID);
  const columns = Array.from({ length: DAYS + 1 }, (_, day) => day);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}">
<title>${title}</title>
<style>
text { font: 12px sans-serif }
polyline { fill: none; stroke-width: 2 }
path { fill: none; stroke: #ddd }
</style>
<rect width="100%" height="100%" fill="#fff"/>
${rows.map(y => `<path d="M${PLOT.left} ${placeY(y)}h${WIDTH}"/>${text(PLOT.left - 8, placeY(y) + 4, `${y} MB`, 'end')}`).join('\n')}
${columns.map(x => text(placeX(x), PLOT.top + HEIGHT + 20, String(x))).join('\n')}
${text(PLOT.left + WIDTH / 2, SIZE.height - 10, 'simulated days')}
${text(SIZE.width / 2, 18, title)}
${lines.map(({ points, color }) => `<polyline stroke="${color}" points="${points.map(({ x, y }) => `${placeX(x).toFixed(1)},${placeY(y).toFixed(1)}`).join(' ')}"/>`).join('\n')}
${lines.map(({ name, color }, index) => text(PLOT.left + 10 + index * 155, 38, name, 'start', color)).join('\n')}
</svg>
`;
}
