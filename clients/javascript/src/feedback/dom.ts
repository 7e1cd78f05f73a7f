type Child = Node | string;
type Attributes = Record<string, string | number | undefined>;
type Tags = HTMLElementTagNameMap;

function fill<Made extends Element>(made: Made, attributes: Attributes, children: Child[]): Made {
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(attribute, String(value));
  made.append(...children);
  return made;
}

/**
 * Creates an element with attributes (undefined ones omitted) and children. The name may be followed by the element's
 * parts, which are its classes too: `button.button submit`.
 */
export function element<Tag extends keyof Tags>(
  name: Tag | `${Tag}.${string}`,
  attributes: Attributes = {},
  ...children: Child[]
): Tags[Tag] {
  const [tag, part] = name.split('.') as [Tag, string?];
  return fill(document.createElement(tag), { part, class: part, ...attributes }, children);
}

const svg = (name: string, attributes: Attributes, ...children: Child[]): Element =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** A drawing of 24 by 24 units: one line in the color of the text. */
export const icon = (d: string, transform?: string): Element =>
  svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d, transform }));

/** A link to a web page, opened in a new tab; empty for other URLs, such as scripts. */
export const linkTo = (url: string | undefined, label: string): Node[] =>
  /^https?:\/\//i.test(url ?? '')
    ? [element('p', {}, element('a.link', { href: url, target: '_blank', rel: 'noopener' }, label))]
    : [];
