/**
 * Measures the views of the page in a browser and returns the defects, one line each. It is serialized into the
 * page, so that it cannot use anything outside of itself.
 */
export function measure(): string[] {
  const problems: string[] = [];
  const round = (value: number) => Math.round(value * 10) / 10;
  const isShown = (node: Element) => node.getClientRects().length > 0;
  for (const view of document.querySelectorAll('parley-feedback')) {
    const root = view.shadowRoot as ShadowRoot;
    const title = root.querySelector('fieldset:not([hidden]) [part~=title]')?.textContent ?? 'thanks';
    const report = (problem: string) => problems.push(`${title}: ${problem}`);
    const all = (selector: string) => [...root.querySelectorAll<HTMLElement>(selector)].filter(isShown);
    const boxesOf = (selector: string) => all(selector).map(node => node.getBoundingClientRect());

    const points = boxesOf('[part~=point]');
    if (new Set(points.map(({ top }) => round(top))).size > 1) report('the scale has several rows');
    const widths = points.map(({ width }) => width);
    if (Math.max(...widths) - Math.min(...widths) > 1) report(`points of different widths: ${widths.map(round)}`);
    for (const { height } of points.filter(each => each.height < 44)) report(`a point is ${round(height)} px high`);

    for (const node of all(
      '[part~=point], [part~=option], button, a, input:not([type=radio], [type=checkbox]), textarea',
    )) {
      const { width, height } = node.getBoundingClientRect();
      if (width < 24 || height < 24)
        report(`a target of ${round(width)} × ${round(height)} px: ${node.outerHTML.slice(0, 60)}`);
    }

    const [scale] = boxesOf('[part~=scale]');
    const [ends] = boxesOf('[part~=ends]');
    if (scale && ends && (Math.abs(scale.left - ends.left) > 1 || Math.abs(scale.right - ends.right) > 1))
      report(
        `the labels are not at the ends of the scale: ${[scale.left, ends.left, scale.right, ends.right].map(round)}`,
      );

    const panel = all('[part~=card], [part~=thanks]')[0]?.getBoundingClientRect();
    for (const node of all('[part]')) {
      const { left, right, height } = node.getBoundingClientRect();
      if (height === 0) continue; // the place of a tab that is not shown
      if (panel && (left < panel.left - 1 || right > panel.right + 1))
        report(`${node.getAttribute('part')} leaves the card`);
      const hides = node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline';
      if (hides && !node.matches('input, textarea, [part~=step]')) report(`${node.getAttribute('part')} is cut off`);
    }
    for (const label of all('[part~=point] span'))
      if (label.scrollWidth > label.clientWidth + 1) report(`"${label.textContent}" is cut off`);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.push(`the page is ${scrollWidth} px wide in a window of ${innerWidth}`);
  return problems;
}
