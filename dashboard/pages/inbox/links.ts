/** A part of a text: plain, or the address of a link. */
export interface TextPart {
  text: string;
  href?: string;
}

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
/** Punctuation after an address that belongs to the sentence. */
const TRAILING = new Set('.,:;!?*_~');
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Returns an address without the punctuation and the unopened brackets that follow it in a sentence. */
function trimAddress(found: string): string {
  const counts = new Map<string, number>();
  for (const sign of found) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  let end = found.length;
  for (; end > 0; end--) {
    const sign = found[end - 1] as string;
    const opening = OPENING[sign];
    const closed = counts.get(sign) ?? 0;
    const isUnopened = opening !== undefined && closed > (counts.get(opening) ?? 0);
    if (!TRAILING.has(sign) && !isUnopened) break;
    counts.set(sign, closed - 1);
  }
  return found.slice(0, end);
}

/** Whether a text is a complete address of the web; other schemes, such as `javascript:`, never become links. */
function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}

/** Splits a text at its web addresses. The parts together are the text. */
export function splitLinks(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = trimAddress(found);
    if (!isWebAddress(address)) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ text: address, href: address });
    end = index + address.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}
