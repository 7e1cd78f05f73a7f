import { formatRelative, formatTime } from '../i18n.ts';

/** How long ago, with the exact time behind it. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatTime(at, { dateStyle: 'full', timeStyle: 'long' })}>
    {formatRelative(at)}
  </time>
);
