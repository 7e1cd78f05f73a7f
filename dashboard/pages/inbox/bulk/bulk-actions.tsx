import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirmation } from '../../../components/dialog.tsx';
import { MenuButton } from '../../../components/menu.tsx';
import { t } from '../../../i18n.ts';
import { useSession } from '../../../session.tsx';
import { useMembers } from '../../../use-members.ts';
import { FieldDialog } from '../field-dialog.tsx';
import { SnoozeMenu } from '../snooze/snooze-menu.tsx';
import { useCustomFields } from '../use-custom-fields.ts';
import { useTimeZone } from '../use-time-zone.ts';
import {
  assigneeChoices,
  fieldChange,
  type NamedChange,
  priorityChoices,
  snoozeUntil,
  statusChoices,
} from './bulk-choices.ts';
import { TagDialog } from './bulk-tags.tsx';

type Choices = ReturnType<typeof statusChoices>;

const ChoiceMenu = ({
  label,
  choices,
  apply,
}: {
  label: string;
  choices: Choices;
  apply(change: NamedChange): void;
}) => (
  <MenuButton
    label={label}
    choices={choices}
    choose={id => {
      const chosen = choices.find(choice => choice.id === id);
      if (chosen) apply(chosen);
    }}
  />
);

interface BulkActionsProps {
  /** Whether all matching conversations are selected, also those that are not loaded. */
  isAll: boolean;
  act(change: NamedChange): void;
}

/** The changes that can be made of the selected conversations. A change of all matching ones is confirmed. */
export function BulkActions({ isAll, act }: BulkActionsProps) {
  const { assignable } = useMembers();
  const timeZone = useTimeZone();
  const { membership } = useSession();
  const definitions = useCustomFields();
  const [asked, setAsked] = useState<'tags' | 'fields'>();
  const [unconfirmed, setUnconfirmed] = useState<NamedChange>();
  const apply = (change: NamedChange) => (isAll ? setUnconfirmed(change) : act(change));
  const close = () => setAsked(undefined);
  const applyAsked = (change: NamedChange) => {
    close();
    apply(change);
  };
  return (
    <div className="row">
      <ChoiceMenu label={t('Status')} choices={statusChoices()} apply={apply} />
      <SnoozeMenu snooze={until => apply(snoozeUntil(until, timeZone))} />
      <ChoiceMenu label={t('Assign')} choices={assigneeChoices(assignable, membership.member_id)} apply={apply} />
      <ChoiceMenu label={t('Priority')} choices={priorityChoices()} apply={apply} />
      <Button small onPress={() => setAsked('tags')}>
        {t('Tags')}
      </Button>
      {definitions.length > 0 && (
        <Button small onPress={() => setAsked('fields')}>
          {t('Fields')}
        </Button>
      )}
      <TagDialog isOpen={asked === 'tags'} close={close} apply={applyAsked} />
      <FieldDialog
        isOpen={asked === 'fields'}
        close={close}
        definitions={definitions}
        submitLabel={t('Change field')}
        apply={(field, value) => applyAsked(fieldChange(field, value))}
      />
      <Confirmation
        title={t('Change all matching conversations?')}
        confirmLabel={t('Change all')}
        isOpen={unconfirmed !== undefined}
        close={() => setUnconfirmed(undefined)}
        act={async () => unconfirmed && act(unconfirmed)}
      >
        <p>
          <strong>{unconfirmed?.what}</strong>
        </p>
        <p>
          {t(
            'This changes every conversation that matches the filters, also those that are not in the list yet. You can stop it at any time; changes that were made stay.',
          )}
        </p>
      </Confirmation>
    </div>
  );
}
