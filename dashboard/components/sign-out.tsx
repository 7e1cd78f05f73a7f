import { useAct } from '../api/hooks.ts';
import { t } from '../i18n.ts';
import { useSessionChange } from '../session.tsx';
import { Button } from './button.tsx';
import { showProblem } from './toast.tsx';

/** Button that ends the session. */
export function SignOut() {
  const logout = useAct('DELETE /v1/session');
  const changed = useSessionChange();
  const leave = () => logout.mutate({}, { onSuccess: () => void changed(), onError: showProblem });
  return (
    <Button small look="quiet" isPending={logout.isPending} onPress={leave}>
      {t('Sign out')}
    </Button>
  );
}
