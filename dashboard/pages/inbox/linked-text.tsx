import { splitLinks } from './links.ts';

/** A text whose web addresses are links. */
export const LinkedText = ({ text }: { text: string }) =>
  splitLinks(text).map(({ text: part, href }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity
    <span key={at}>
      {href ? (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow">
          {part}
        </a>
      ) : (
        part
      )}
    </span>
  ));
