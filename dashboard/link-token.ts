/**
 * The token of the link by which a page was opened: `#token=…` or `#…`.
 *
 * It stands in the fragment, which browsers send to nobody, so that no log on the way holds it.
 */
export const linkToken = (): string => location.hash.replace(/^#(token=)?/, '');
