import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Confirmation } from '../../../components/dialog.tsx';
import { MenuButton } from '../../../components/menu.tsx';
import { t } from '../../../i18n.ts';
import { useSession } from '../../../session.tsx';
import { SnoozeDialog } from '../snooze-dialog.tsx';
import { useMembers } from '../use-members.ts';
import {
  assigneeChoices,
  type NamedChange,
  priorityChoices,
  snoozeChoices,
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

const OTHER_TIME = 'other';

/** Menu with times, and a dialog for any other time. */
function Snooze({ apply }: { apply(change: NamedChange): void }) {
  const [isAsking, setAsking] = useState(false);
  const choices = snoozeChoices();
  const choose = (id: string) => {
    const chosen = choices.find(choice => choice.id === id);
    if (chosen) apply(chosen);
    else setAsking(true);
  };
  return (
    <>
      <MenuButton
        label={t('Snooze')}
        choices={[...choices, { id: OTHER_TIME, label: t('Choose a time …') }]}
        choose={choose}
      />
      <SnoozeDialog
        isOpen={isAsking}
        close={() => setAsking(false)}
        snooze={async until => {
          setAsking(false);
          apply(snoozeUntil(until));
        }}
      />
    </>
  );
}

interface BulkActionsProps {
  /** Whether all matching conversations are selected, also those that are not loaded. */
  isAll: boolean;
  act(change: NamedChange): void;
}

/** The changes that can be made of the selected conversations. A change of all matching ones is confirmed. */
export function BulkActions({ isAll, act }: BulkActionsProps) {
  const { members } = useMembers();
  const { membership } = useSession();
  const [isTagging, setTagging] = useState(false);
  const [unconfirmed, setUnconfirmed] = useState<NamedChange>();
  const apply = (change: NamedChange) => (isAll ? setUnconfirmed(change) : act(change));
  return (
    <div className="row">
      <ChoiceMenu label={t('Status')} choices={statusChoices()} apply={apply} />
      <Snooze apply={apply} />
      <ChoiceMenu label={t('Assign')} choices={assigneeChoices(members, membership.member_id)} apply={apply} />
      <ChoiceMenu label={t('Priority')} choices={priorityChoices()} apply={apply} />
      <Button small onPress={() => setTagging(true)}>
        {t('Tags')}
      </Button>
      <TagDialog
        isOpen={isTagging}
        close={() => setTagging(false)}
        apply={change => {
          setTagging(false);
          apply(change);
        }}
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
