import type { Metadata } from '../session/metadata.ts';
import type { CardQuery } from '../types.ts';
import { SDK } from '../version.ts';
import { parentOf } from './dom.ts';

export interface StageHost extends HTMLElement {
  context: Metadata | undefined;
}

/** The nearest `lang` around an element, or the browser's language. */
export const languageOf = (node: Element | undefined): string =>
  node ? (node as HTMLElement).lang || languageOf(parentOf(node)) : navigator.language;

/** Without attributes, values are undefined, which are not sent. */
const environmentOf = (host: Element) => ({
  platform: 'web',
  locale: languageOf(host),
  app_version: (host.getAttribute('app-version') || undefined) as string,
});

/** The query for the cards of a view. */
export const queryOf = (host: Element): CardQuery => ({
  ...environmentOf(host),
  limit: (Number(host.getAttribute('limit')) || undefined) as number,
});

/** The metadata of a view's answers. */
export const metadataOf = (host: StageHost): Metadata => ({
  ...host.context,
  ...environmentOf(host),
  sdk: SDK.replace('parley-', ''),
  screen: `${screen.width}x${screen.height}`,
});
