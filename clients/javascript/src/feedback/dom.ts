type Child = Node | string;
type Attributes = Record<string, string | number | undefined>;

function fill<Made extends Element>(made: Made, attributes: Attributes, children: Child[]): Made {
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(attribute, String(value));
  made.append(...children);
  return made;
}

/** Creates an element with attributes (empty ones omitted) and children. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] => fill(document.createElement(name), attributes, children);

const svg = (name: string, attributes: Attributes, ...children: Child[]): Element =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** A drawing of 24 by 24 units: one line in the color of the text. */
export const icon = (d: string, transform?: string): Element =>
  svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d, transform }));

/** A link to a web page, opened in a new tab; empty for other URLs, such as scripts. */
export const linkTo = (url: string | undefined, label: string): Node[] =>
  /^https?:\/\//i.test(url ?? '')
    ? [element('p', {}, element('a', { part: 'link', href: url, target: '_blank', rel: 'noopener' }, label))]
    : [];
