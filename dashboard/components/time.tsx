import { formatRelative, formatTime } from '../i18n.ts';

/** Relative time with the exact time as a tooltip. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatTime(at, { dateStyle: 'full', timeStyle: 'long' })}>
    {formatRelative(at)}
  </time>
);
