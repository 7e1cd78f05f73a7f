import { useParams } from 'wouter';
import { useApi, useList } from '../../api/hooks.ts';
import type { VersionWithChanges } from '../../api/names.ts';
import { ChangeList } from '../../components/change-list.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { More } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { t } from '../../i18n.ts';
import { QuestionFrame } from './frame.tsx';

/** Formats a changed value: strings as they are, other values as JSON. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1));

const asChange = ({ pointer, before, after }: { pointer: string; before: unknown; after: unknown }) => ({
  label: pointer.slice(1).replaceAll('/', ' › '),
  before: before == null ? undefined : asText(before),
  after: after == null ? undefined : asText(after),
});

const Version = ({ version: { version, title, created_at, changes = [] } }: { version: VersionWithChanges }) => (
  <li>
    <Panel title={t('Version {version}', { version })} lead={<Time at={created_at} />}>
      {changes.length > 0 ? <ChangeList changes={changes.map(asChange)} /> : <p className="wrap-anywhere">{title}</p>}
    </Panel>
  </li>
);

/** Version history of a question with the changes of each immutable version. */
export function QuestionVersions() {
  const { id = '' } = useParams();
  const question = useApi('GET /v1/questions/{id}', { params: { id } });
  const list = useList('GET /v1/questions/{id}/versions', { params: { id } });
  return (
    <QuestionFrame id={id} question={question.data}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('No versions yet')}>
              {t('The first version is created when you publish the question.')}
            </Empty>
          ) : (
            <>
              <ol className="stack">
                {list.items.map(version => (
                  <Version key={version.version} version={version} />
                ))}
              </ol>
              <More list={list} />
            </>
          )
        }
      </Ready>
    </QuestionFrame>
  );
}
