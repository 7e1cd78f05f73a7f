import { useState } from 'react';
import { useAct, useList } from '../../../api/hooks.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmButton, Dialog } from '../../../components/dialog.tsx';
import { Empty, Ready } from '../../../components/page.tsx';
import { More, Table } from '../../../components/table.tsx';
import { t } from '../../../i18n.ts';
import { useSession } from '../../../session.tsx';
import { changeTexts } from '../../inbox/macros/change-texts.ts';
import { useChangeNames } from '../../inbox/macros/use-change-names.ts';
import type { Macro } from '../../inbox/macros/use-macros.ts';
import { SettingsFrame } from '../frame.tsx';
import { EditMacro, NewMacro } from './macro-form.tsx';

/** Characters of the text in the list. */
const PREVIEW = 120;

const previewOf = (body: string): string => {
  const characters = [...body];
  return characters.length > PREVIEW ? `${characters.slice(0, PREVIEW).join('').trimEnd()}…` : body;
};

const Name = ({ macro: { name, shortcut, kind, body } }: { macro: Macro }) => (
  <>
    <strong className="wrap-anywhere">
      <bdi>{name}</bdi>
    </strong>{' '}
    {kind === 'note' && <Badge plain>{t('Note')}</Badge>} {shortcut && <code className="nowrap">{`/${shortcut}`}</code>}
    {body !== null && (
      <p className="small quiet wrap-anywhere" dir="auto">
        {previewOf(body)}
      </p>
    )}
  </>
);

function Delete({ macro: { id, name } }: { macro: Macro }) {
  const remove = useAct('DELETE /v1/macros/{id}');
  return (
    <ConfirmButton
      small
      label={t('Delete')}
      title={t('Delete “{name}”?', { name })}
      confirmLabel={t('Delete')}
      act={() => remove.mutateAsync({ params: { id } })}
    >
      {t('Messages and changes that it has made are kept.')}
    </ConfirmButton>
  );
}

function MacroTable({ macros, edit }: { macros: Macro[]; edit(id: string): void }) {
  const names = useChangeNames();
  const { may } = useSession();
  const actions = {
    label: t('Actions'),
    actions: true,
    cell: (macro: Macro) => (
      <>
        <Button small look="quiet" onPress={() => edit(macro.id)}>
          {t('Edit')}
        </Button>
        <Delete macro={macro} />
      </>
    ),
  };
  return (
    <Table
      caption={t('Saved replies')}
      rows={macros}
      keyOf={({ id }) => id}
      columns={[
        { label: t('Saved reply'), cell: macro => <Name macro={macro} /> },
        { label: t('Changes'), cell: macro => changeTexts(macro, names).join(' · ') || '–' },
        ...(may('conversations:write') ? [actions] : []),
      ]}
    />
  );
}

/** Settings, tab Saved replies: texts and macros for the inbox. */
export function SavedReplies() {
  const list = useList('GET /v1/macros', {}, { limit: 100 });
  const { may } = useSession();
  const [task, begin] = useState<{ kind: 'create' } | { kind: 'edit'; id: string }>();
  const close = () => begin(undefined);
  const create = may('conversations:write') && (
    <Button look="primary" onPress={() => begin({ kind: 'create' })}>
      {t('New saved reply')}
    </Button>
  );
  return (
    <SettingsFrame title={t('Saved replies')} actions={create}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('No saved replies yet')} action={create}>
              {t('Texts that your team sends again and again. Type “/” in the inbox to find them.')}
            </Empty>
          ) : (
            <>
              <MacroTable macros={list.items} edit={id => begin({ kind: 'edit', id })} />
              <More list={list} />
            </>
          )
        }
      </Ready>
      <Dialog title={t('New saved reply')} isOpen={task?.kind === 'create'} close={close} dismissable="by-key">
        <NewMacro done={close} />
      </Dialog>
      <Dialog title={t('Edit saved reply')} isOpen={task?.kind === 'edit'} close={close} dismissable="by-key">
        {task?.kind === 'edit' && <EditMacro id={task.id} done={close} />}
      </Dialog>
    </SettingsFrame>
  );
}
