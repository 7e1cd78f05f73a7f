import { useLocation } from 'wouter';
import { useAct } from '../api/hooks.ts';
import type { Account, Membership } from '../api/names.ts';
import { t } from '../i18n.ts';
import { pathIn, pathTo } from '../paths.ts';
import { rightsOf } from '../rights.ts';
import { useAccountRefresh, useSession } from '../session.tsx';
import { TenantContext } from '../tenant.ts';
import { Button, ButtonLink } from './button.tsx';
import { Panel } from './page.tsx';
import { showProblem } from './toast.tsx';

const homeOf = ({ tenant }: Pick<Membership, 'tenant'>): string => pathIn(tenant.id, pathTo('home'));

/** The demo tenant that the person owns. */
const demoOf = ({ memberships }: Account): Membership | undefined =>
  memberships.find(({ tenant, role }) => tenant.demo && role === 'owner');

/** The tenant from which a demo tenant can be removed, and whose audit log keeps the entry. */
const realOf = ({ memberships }: Account): Membership | undefined =>
  memberships.find(({ tenant, role }) => !tenant.demo && rightsOf(role).has('tenant:write'));

function CreateDemo() {
  const create = useAct('POST /v1/demo-tenants');
  const refresh = useAccountRefresh();
  const [, go] = useLocation();
  const open = async (tenant: Membership['tenant']) => {
    await refresh();
    go(homeOf({ tenant }));
  };
  const run = () => create.mutate({}, { onSuccess: open, onError: showProblem });
  const isPending = create.isPending || create.isSuccess; // until the new tenant is open
  return (
    <Button isPending={isPending} onPress={run}>
      {isPending ? t('Please wait…') : t('Create demo data')}
    </Button>
  );
}

function RemoveButton({ demo, real }: { demo: Membership; real: Membership }) {
  const remove = useAct('DELETE /v1/demo-tenants/{id}');
  const refresh = useAccountRefresh();
  const { membership } = useSession();
  const [, go] = useLocation();
  const { id } = demo.tenant;
  const leave = () => {
    if (membership.tenant.id === id) go(homeOf(real));
    void refresh();
  };
  const run = () => remove.mutate({ params: { id } }, { onSuccess: leave, onError: showProblem });
  return (
    <Button look="danger-quiet" isPending={remove.isPending || remove.isSuccess} onPress={run}>
      {t('Remove demo data')}
    </Button>
  );
}

/** Button that removes a demo tenant of the person; without another tenant of which they are an admin, the command. */
export function RemoveDemo({ demo }: { demo: Membership }) {
  const real = realOf(useSession().account);
  if (real)
    return (
      <TenantContext value={real.tenant.id}>
        <RemoveButton demo={demo} real={real} />
      </TenantContext>
    );
  return (
    <>
      <p>{t('To remove it with everything in it, run on the server:')}</p>
      <code className="wrap-anywhere">{`parley demo delete --tenant ${demo.tenant.id}`}</code>
    </>
  );
}

/** Creates, opens and removes the demo tenant, for those who may. */
export function DemoData() {
  const { account, membership, may } = useSession();
  if (!may('tenant:write')) return null;
  const demo = demoOf(account);
  const isHere = demo?.tenant.id === membership.tenant.id;
  return (
    <Panel
      title={t('Demo data')}
      lead={t('A separate tenant with six weeks of data of a small shop. Your own data is not changed.')}
    >
      <div className="row">
        {demo ? (
          <>
            {!isHere && <ButtonLink href={homeOf(demo)}>{t('Open demo data')}</ButtonLink>}
            <RemoveDemo demo={demo} />
          </>
        ) : (
          <CreateDemo />
        )}
      </div>
    </Panel>
  );
}
