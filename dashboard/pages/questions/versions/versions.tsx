import { useParams } from 'wouter';
import { useApi, useList } from '../../../api/hooks.ts';
import type { VersionWithChanges } from '../../../api/names.ts';
import { ChangeList } from '../../../components/change-list.tsx';
import { Empty, Panel, Ready } from '../../../components/page.tsx';
import { More } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { t } from '../../../i18n.ts';
import { QuestionFrame } from '../frame.tsx';
import { readableText } from './change-texts.ts';
import { changesIn } from './version-changes.ts';

function Version({ version: content }: { version: VersionWithChanges }) {
  const { version, title, created_at } = content;
  const changes = changesIn(content);
  return (
    <li>
      <Panel title={t('Version {version}', { version })} lead={<Time at={created_at} />}>
        {changes.length > 0 ? <ChangeList changes={changes} /> : <p className="wrap-anywhere">{readableText(title)}</p>}
      </Panel>
    </li>
  );
}

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
