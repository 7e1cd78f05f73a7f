import { useApi } from '../../../api/hooks.ts';
import { Snippet } from '../../../components/copy.tsx';
import { Ready } from '../../../components/page.tsx';
import { t } from '../../../i18n.ts';

/** The JSON of an event, with its object as it is now unless that is left out. */
export function EventJson({ sequence, what, expand = true }: { sequence: number; what: string; expand?: boolean }) {
  const feed = useApi('GET /v1/events', { query: { after: sequence - 1, limit: 1, expand } });
  const expired = <p className="small quiet">{t('The event is no longer kept.')}</p>;
  if (feed.error?.code === 'events-expired') return expired;
  return (
    <Ready query={feed} lines={2}>
      {({ data: [event] }) =>
        event?.sequence === sequence ? <Snippet what={what} code={JSON.stringify(event, null, 2)} /> : expired
      }
    </Ready>
  );
}
