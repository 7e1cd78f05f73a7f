import { formatTime, t } from '../i18n.ts';
import { Note } from './problem-note.tsx';

/** Note about edits that were restored; `outdatedText` if the resource has changed since they were made. */
export const Restored = ({
  at,
  isOutdated,
  outdatedText,
}: {
  at: string;
  isOutdated: boolean;
  outdatedText: string;
}) => (
  <Note tone={isOutdated ? 'warn' : 'info'}>
    <p>
      <span>{t('Your edits of {time} were restored.', { time: formatTime(at) })}</span>{' '}
      {isOutdated && <span>{outdatedText}</span>}
    </p>
  </Note>
);
