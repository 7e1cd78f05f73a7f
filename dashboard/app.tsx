import { type ComponentType, lazy, Suspense, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { type AroundNavHandler, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { ErrorBoundary } from './components/error-boundary.tsx';
import { Front } from './components/front.tsx';
import { Loading } from './components/page.tsx';
import { ProblemNote } from './components/problem-note.tsx';
import { ConnectionBanner, Shell } from './components/shell.tsx';
import { Toasts } from './components/toast.tsx';
import { activate, type Locale, locale, saveLocale, t } from './i18n.ts';
import { leave } from './leaving.ts';
import { loadPart } from './load-part.ts';
import { LocaleContext } from './locale.ts';
import { Login } from './pages/front/login.tsx';
import { NoTenant, NotFound, UnknownTenant } from './pages/not-found.tsx';
import {
  BASE,
  type OuterPathName,
  outerPath,
  PATHS,
  pathIn,
  TENANT,
  TENANT_PATHS,
  type TenantPathName,
  tenantPath,
} from './paths.ts';
import { LastTenant, lastMembership, SessionGate, TenantGate, useSignedIn } from './session.tsx';

const page = (load: () => Promise<ComponentType>) =>
  lazy(() => loadPart(load).then(component => ({ default: component })));

/** Pages that need no session. */
const FRONT_PAGES: Partial<Record<OuterPathName, ComponentType>> = {
  setup: page(() => import('./pages/front/setup.tsx').then(module => module.Setup)),
  forgotten: page(() => import('./pages/front/forgotten.tsx').then(module => module.Forgotten)),
  reset: page(() => import('./pages/front/reset.tsx').then(module => module.Reset)),
  invitation: page(() => import('./pages/front/invitation.tsx').then(module => module.Invitation)),
};

/** A tenant's pages, loaded on first use. */
const TENANT_PAGES: Partial<Record<TenantPathName, ComponentType>> = {
  home: page(() => import('./pages/home/home.tsx').then(module => module.Home)),
  inbox: page(() => import('./pages/inbox/inbox.tsx').then(module => module.Inbox)),
  questions: page(() => import('./pages/questions/questions.tsx').then(module => module.Questions)),
  newQuestion: page(() => import('./pages/questions/editor.tsx').then(module => module.NewQuestion)),
  question: page(() => import('./pages/questions/editor.tsx').then(module => module.EditQuestion)),
  questionResults: page(() => import('./pages/questions/results.tsx').then(module => module.QuestionResults)),
  questionAnswers: page(() => import('./pages/questions/answers.tsx').then(module => module.QuestionAnswers)),
  questionVersions: page(() =>
    import('./pages/questions/versions/versions.tsx').then(module => module.QuestionVersions),
  ),
  people: page(() => import('./pages/people/people.tsx').then(module => module.People)),
  identity: page(() => import('./pages/people/person.tsx').then(module => module.Person)),
  insights: page(() => import('./pages/insights/insights.tsx').then(module => module.Insights)),
  data: page(() => import('./pages/data/data.tsx').then(module => module.Data)),
  general: page(() => import('./pages/settings/general.tsx').then(module => module.General)),
  appearance: page(() =>
    import('./pages/settings/appearance/appearance.tsx').then(module => module.AppearanceSettings),
  ),
  inboxSettings: page(() => import('./pages/settings/inbox/inbox-settings.tsx').then(module => module.InboxSettings)),
  apiKeys: page(() => import('./pages/settings/api-keys.tsx').then(module => module.ApiKeys)),
  savedReplies: page(() => import('./pages/settings/macros/macros.tsx').then(module => module.SavedReplies)),
  webhooks: page(() => import('./pages/settings/webhooks/webhooks.tsx').then(module => module.Webhooks)),
  webhook: page(() => import('./pages/settings/webhooks/webhook.tsx').then(module => module.WebhookPage)),
  events: page(() => import('./pages/settings/events/events.tsx').then(module => module.Events)),
  members: page(() => import('./pages/settings/members.tsx').then(module => module.Members)),
  auditLog: page(() => import('./pages/settings/audit-log.tsx').then(module => module.AuditLog)),
};

const Me = page(() => import('./pages/me/me.tsx').then(module => module.Me));

function routes<Name extends keyof typeof PATHS>(pages: Partial<Record<Name, ComponentType>>) {
  return Object.entries(pages).map(([name, component]) => (
    <Route key={name} path={PATHS[name as Name]} component={component as ComponentType} />
  ));
}

/** Confines loading and rendering errors to its content: one page, or the whole dashboard. */
function Content({ children }: { children: React.ReactNode }) {
  const [here] = useLocation();
  return (
    <ErrorBoundary here={here}>
      <Suspense fallback={<Loading />}>{children}</Suspense>
    </ErrorBoundary>
  );
}

/** The encoded path relative to `BASE` or a tenant; the router's is partly decoded. */
const pathHere = (prefix: string): string => location.pathname.slice(prefix.length) || '/';

/** Leads from an earlier path of the tenant to its successor. */
function MovedPage({ tenantId }: { tenantId: string }) {
  const path = pathHere(`${BASE}/t/${tenantId}`);
  const to = path === '/' ? TENANT_PATHS.home : tenantPath(path);
  const outer = outerPath(path);
  if (to && to !== path) return <Redirect to={`${to}${location.search}`} replace />;
  return outer ? <Redirect to={`~${BASE}${outer}`} replace /> : <NotFound />;
}

const TenantPages = ({ tenantId }: { tenantId: string }) => (
  <TenantGate key={tenantId} tenantId={tenantId} unknown={<UnknownTenant />}>
    <Shell>
      <Content>
        <Switch>
          {routes(TENANT_PAGES)}
          <Route>
            <MovedPage tenantId={tenantId} />
          </Route>
        </Switch>
      </Content>
    </Shell>
  </TenantGate>
);

/** Leads from an address without a tenant, such as one of an earlier version, to the page in the last visited tenant. */
function WithoutTenant() {
  const { account } = useSignedIn();
  const membership = lastMembership(account);
  const path = pathHere(BASE);
  const isStart = path === '/' || path === PATHS.login;
  const to = isStart ? PATHS.home : tenantPath(path);
  const outer = outerPath(path);
  if (outer) return <Redirect to={outer} replace />;
  if (membership && to)
    return <Redirect to={pathIn(membership.tenant.id, `${to}${isStart ? '' : location.search}`)} replace />;
  return (
    <LastTenant none={<NoTenant />}>
      <Shell>
        <NotFound />
      </Shell>
    </LastTenant>
  );
}

const SignedIn = () => (
  <Switch>
    <Route path={PATHS.me}>
      <LastTenant none={<NoTenant />}>
        <Shell>
          <Content>
            <Me />
          </Content>
        </Shell>
      </LastTenant>
    </Route>
    <Route path={TENANT} nest>
      {({ tenant }: { tenant?: string }) => <TenantPages tenantId={tenant ?? ''} />}
    </Route>
    <Route>
      <WithoutTenant />
    </Route>
  </Switch>
);

/** Shows the sign-in page at every URL without a session, and the requested page after sign-in. */
const Gate = () => (
  <SessionGate
    pending={
      <Front>
        <Loading />
      </Front>
    }
    signedOut={<Login />}
    failed={(problem, retry) => (
      <Front title={t('This page could not be loaded')}>
        <ProblemNote problem={problem} retry={retry} />
      </Front>
    )}
  >
    {isLost => (
      <>
        <SignedIn />
        {isLost && <ConnectionBanner /> /* last, since the first link of a page is the one that skips to its content */}
      </>
    )}
  </SessionGate>
);

/** A page with unsaved edits asks before a navigation. */
const aroundNav: AroundNavHandler = (navigate, to, options) => leave(() => navigate(to, options));

/** The dashboard. A language change remounts it, so that texts can come from a plain function. */
export function App() {
  const [current, setCurrent] = useState(locale() as Locale);
  const change = async (next: Locale) => {
    saveLocale(next);
    await activate(next);
    setCurrent(next);
  };
  return (
    <LocaleContext value={{ current, change }}>
      <I18nProvider locale={current} key={current}>
        <Router base={BASE} aroundNav={aroundNav}>
          <Content>
            <Switch>
              {routes(FRONT_PAGES)}
              <Route component={Gate} />
            </Switch>
          </Content>
          <Toasts />
        </Router>
      </I18nProvider>
    </LocaleContext>
  );
}
