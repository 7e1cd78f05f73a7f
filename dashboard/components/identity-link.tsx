import { Link } from 'wouter';
import { t } from '../i18n.ts';
import { pathTo } from '../paths.ts';
import { Badge } from './badge.tsx';

/** Path of an identity's page. Verified and unverified identities of the same name have separate pages. */
export const identityPath = (identity: string, verified: boolean): string =>
  `${pathTo('identity', { identity })}${verified ? '' : '?claimed'}`;

/** Links to the page of an identity. */
export const IdentityLink = ({ identity, verified }: { identity: string; verified: boolean }) => (
  <span className="row">
    <Link href={identityPath(identity, verified)} className="wrap-anywhere" dir="auto">
      {identity}
    </Link>
    {!verified && <Badge plain>{t('unverified')}</Badge>}
  </span>
);
