import { useApi } from '../../../api/hooks.ts';
import { Snippet } from '../../../components/copy.tsx';
import { Ready } from '../../../components/page.tsx';
import { t } from '../../../i18n.ts';

/** The JSON of an event as a webhook sends it now, with its object. */
export function EventJson({ sequence, what }: { sequence: number; what: string }) {
  const feed = useApi('GET /v1/events', { query: { after: sequence - 1, limit: 1, expand: true } });
  return (
    <Ready query={feed} lines={2}>
      {({ data: [event] }) =>
        event?.sequence === sequence ? (
          <Snippet what={what} code={JSON.stringify(event, null, 2)} />
        ) : (
          <p className="small quiet">{t('The event is no longer kept.')}</p>
        )
      }
    </Ready>
  );
}
