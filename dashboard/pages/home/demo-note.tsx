import { useApi } from '../../api/hooks.ts';
import note from '../../components/note.module.css';
import { t } from '../../i18n.ts';

/** Note of a tenant with demo data, with the command that removes it. */
export function DemoNote() {
  const { data: tenant } = useApi('GET /v1/tenant', {}, { isExtra: true });
  if (!tenant?.demo) return null;
  return (
    <div className={`${note.note} ${note.info}`}>
      <p className={note.title}>{t('This tenant has demo data.')}</p>
      <p>{t('Your other tenants are separate from it. To remove it with everything in it, run on the server:')}</p>
      <code className="wrap-anywhere">parley demo delete --tenant {tenant.id}</code>
    </div>
  );
}
