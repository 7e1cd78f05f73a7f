/** A child of an element; empty ones are omitted. */
export type Child = Node | string | false | null | undefined;
type Attributes = Record<string, string | number | boolean | undefined>;
type Tags = HTMLElementTagNameMap;

/** Texts of elements with a part are isolated: each has its own direction, and keeps the alignment of the page. */
function fill<Made extends Element>(made: Made, attributes: Attributes, children: Child[]): Made {
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(attribute, value as string);
  for (const child of children)
    if (child) made.append(attributes.part && typeof child === 'string' ? element('bdi', {}, child) : child);
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

/** The element around another one, also outside of its shadow root. */
export const parentOf = (node: Element): Element | undefined =>
  node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host;

/** Whether a click is not the second of a double click, which is meant for the step or card that has just gone. */
export const isFirst = ({ detail }: MouseEvent): boolean => detail < 2;

/** Creates a button; `part` is its own part, next to `button`. */
export function button(part: string, text: string, onClick: () => void): HTMLButtonElement {
  const made = element(`button.button ${part}`, { type: 'button' }, text);
  made.addEventListener('click', event => isFirst(event) && onClick());
  return made;
}

const svg = (name: string, attributes: Attributes, ...children: Child[]): Element =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** A drawing of 24 by 24 units: one line in the color of the text. */
export const icon = (d: string, transform?: string): Element =>
  svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': true }, svg('path', { d, transform }));

/** A link to a web page, opened in a new tab; nothing for other URLs, such as scripts. */
export const linkTo = (url: string | undefined, label: string | undefined): Child =>
  /^https?:\/\//i.test(url as string) &&
  element('p', {}, element('a.link', { href: url, target: '_blank', rel: 'noopener' }, label));
