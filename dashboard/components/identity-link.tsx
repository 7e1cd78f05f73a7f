import { Link } from 'wouter';
import { t } from '../i18n.ts';
import { pathTo } from '../paths.ts';
import { Badge } from './badge.tsx';

/** The address of everything of one identity; the claimed one of a name is another than the proven one. */
export const identityPath = (identity: string, verified: boolean): string =>
  `${pathTo('identity', { identity })}${verified ? '' : '?claimed'}`;

/** Who it is, and the way to everything else of them. */
export const IdentityLink = ({ identity, verified }: { identity: string; verified: boolean }) => (
  <span className="row">
    <Link href={identityPath(identity, verified)} className="wrap-anywhere">
      {identity}
    </Link>
    {!verified && <Badge plain>{t('unverified')}</Badge>}
  </span>
);
