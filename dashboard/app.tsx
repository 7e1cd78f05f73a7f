import { type ComponentType, lazy, Suspense, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { ErrorBoundary } from './components/error-boundary.tsx';
import { Front } from './components/front.tsx';
import { Loading } from './components/page.tsx';
import { ProblemNote } from './components/problem-note.tsx';
import { Shell } from './components/shell.tsx';
import { Toasts } from './components/toast.tsx';
import { activate, type Locale, locale, saveLocale, t } from './i18n.ts';
import { LocaleContext } from './locale.ts';
import { Login } from './pages/front/login.tsx';
import { NotFound } from './pages/not-found.tsx';
import { BASE, PATHS, type PathName } from './paths.ts';
import { SessionGate } from './session.tsx';

const page = (load: () => Promise<ComponentType>) => lazy(() => load().then(component => ({ default: component })));

/** Pages that need no session. */
const FRONT_PAGES: Partial<Record<PathName, ComponentType>> = {
  setup: page(() => import('./pages/front/setup.tsx').then(module => module.Setup)),
  forgotten: page(() => import('./pages/front/forgotten.tsx').then(module => module.Forgotten)),
  reset: page(() => import('./pages/front/reset.tsx').then(module => module.Reset)),
  invitation: page(() => import('./pages/front/invitation.tsx').then(module => module.Invitation)),
};

/** Pages that need a session, loaded on first use. Fixed paths precede patterns. */
const PAGES: Partial<Record<PathName, ComponentType>> = {
  home: page(() => import('./pages/getting-started/getting-started.tsx').then(module => module.GettingStarted)),
  questions: page(() => import('./pages/questions/questions.tsx').then(module => module.Questions)),
  newQuestion: page(() => import('./pages/questions/editor.tsx').then(module => module.NewQuestion)),
  question: page(() => import('./pages/questions/editor.tsx').then(module => module.EditQuestion)),
  questionResults: page(() => import('./pages/questions/results.tsx').then(module => module.QuestionResults)),
  questionVersions: page(() => import('./pages/questions/versions.tsx').then(module => module.QuestionVersions)),
  inbox: page(() => import('./pages/inbox/inbox.tsx').then(module => module.Inbox)),
  conversation: page(() => import('./pages/inbox/inbox.tsx').then(module => module.Inbox)),
  identity: page(() => import('./pages/identity.tsx').then(module => module.IdentityPage)),
  ingestion: page(() => import('./pages/ingestion.tsx').then(module => module.Ingestion)),
  general: page(() => import('./pages/settings/general.tsx').then(module => module.General)),
  apiKeys: page(() => import('./pages/settings/api-keys.tsx').then(module => module.ApiKeys)),
  members: page(() => import('./pages/settings/members.tsx').then(module => module.Members)),
  security: page(() => import('./pages/settings/security.tsx').then(module => module.Security)),
  auditLog: page(() => import('./pages/settings/audit-log.tsx').then(module => module.AuditLog)),
};

const routes = (pages: Partial<Record<PathName, ComponentType>>) =>
  Object.entries(pages).map(([name, component]) => (
    <Route key={name} path={PATHS[name as PathName]} component={component} />
  ));

function SignedIn() {
  const [here] = useLocation();
  return (
    <Shell>
      <ErrorBoundary here={here}>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path={PATHS.login}>
              <Redirect to={PATHS.home} replace />
            </Route>
            {routes(PAGES)}
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** Shows the sign-in page at every URL without a session, and the requested page after sign-in. */
const Gate = () => (
  <SessionGate
    pending={
      <Front>
        <Loading />
      </Front>
    }
    signedOut={<Login />}
    noTenant={
      <Front title={t('You are not a member of any tenant')}>
        <p>{t('Ask an owner for a new invitation.')}</p>
      </Front>
    }
    failed={(problem, retry) => (
      <Front title={t('This page could not be loaded')}>
        <ProblemNote problem={problem} retry={retry} />
      </Front>
    )}
  >
    <SignedIn />
  </SessionGate>
);

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
        <Router base={BASE}>
          <Suspense fallback={<Loading />}>
            <Switch>
              {routes(FRONT_PAGES)}
              <Route component={Gate} />
            </Switch>
          </Suspense>
          <Toasts />
        </Router>
      </I18nProvider>
    </LocaleContext>
  );
}
