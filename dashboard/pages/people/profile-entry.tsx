import type { Schemas } from '../../api/schema.ts';
import { ChangeList } from '../../components/change-list.tsx';
import { t } from '../../i18n.ts';
import { useMembers } from '../../use-members.ts';
import { EntryLine } from './entry.tsx';

type ProfileChange = Schemas['ProfileChange'];
type Changed = ProfileChange['changes'][number];

const deviceFields = (): Record<string, string> => ({
  locale: t('Language'),
  platform: t('Platform'),
  app_version: t('App version'),
});

const labelOf = ({ field, name }: Changed): string => name ?? deviceFields()[field] ?? field;

/** A changed field with its values; those of a field that was removed from the profile are no longer known. */
function shownChange(changed: Changed) {
  const { from, to } = changed;
  const label = labelOf(changed);
  if (from === null && to === null) return { label: t('{field} · value removed', { field: label }) };
  return {
    label,
    ...(from === null ? {} : { before: String(from) }),
    ...(to === null ? {} : { after: String(to) }),
  };
}

function titleOf(by: ProfileChange['by'], nameOf: (id: string) => string): string {
  if (by.type === 'member' && by.id) return t('Profile changed by {name}', { name: nameOf(by.id) });
  if (by.type === 'api_key') return t('Profile changed with an API key');
  return by.type === 'user' ? t('Profile changed by the app') : t('Profile changed');
}

/** Fields of a profile that changed together, and who changed them. */
export function ProfileEntry({ change: { at, by, changes } }: { change: ProfileChange }) {
  const { nameOf } = useMembers();
  return (
    <EntryLine icon="person" at={at}>
      <p>{titleOf(by, nameOf)}</p>
      <ChangeList changes={changes.map(shownChange)} />
    </EntryLine>
  );
}
