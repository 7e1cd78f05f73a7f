import { Badge } from '../../components/badge.tsx';
import { formatDuration, formatRelative, t } from '../../i18n.ts';

/** When the waiting user should have a reply; in red once that has passed. */
export function ReplyDue({ at }: { at: string }) {
  const isOverdue = Date.parse(at) < Date.now();
  return (
    <Badge tone={isOverdue ? 'bad' : 'neutral'}>
      {isOverdue
        ? t('Reply overdue for {time}', { time: formatDuration(at) })
        : t('Reply due {time}', { time: formatRelative(at) })}
    </Badge>
  );
}
