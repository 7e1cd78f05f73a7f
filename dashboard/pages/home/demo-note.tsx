import { RemoveDemo } from '../../components/demo-data.tsx';
import note from '../../components/note.module.css';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';

/** Note of a tenant with demo data; its owner can remove it here. */
export function DemoNote() {
  const { membership } = useSession();
  if (!membership.tenant.demo) return null;
  return (
    <div className={`${note.note} ${note.info}`}>
      <p className={note.title}>{t('This tenant has demo data.')}</p>
      <p>{t('Your other tenants are separate from it.')}</p>
      {membership.role === 'owner' && <RemoveDemo demo={membership} />}
    </div>
  );
}
