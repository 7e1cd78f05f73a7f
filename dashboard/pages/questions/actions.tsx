import { useLocation } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { showProblem, toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';

type Question = Schemas['Question'];

function PauseOrResume({ id, status }: Question) {
  const pause = useAct('POST /v1/questions/{id}/pause');
  const resume = useAct('POST /v1/questions/{id}/resume');
  const act = status === 'live' ? pause : resume;
  return (
    <Button isPending={act.isPending} onPress={() => act.mutate({ params: { id } }, { onError: showProblem })}>
      {status === 'live' ? t('Pause') : t('Resume')}
    </Button>
  );
}

function Clone({ id }: { id: string }) {
  const clone = useAct('POST /v1/questions/{id}/clone');
  const [, go] = useLocation();
  const act = () =>
    clone.mutate(
      { params: { id } },
      {
        onSuccess: copy => {
          toast(t('Question cloned as a draft.'));
          go(pathTo('question', { id: copy.id }));
        },
        onError: showProblem,
      },
    );
  return (
    <Button isPending={clone.isPending} onPress={act}>
      {t('Clone')}
    </Button>
  );
}

function Close({ id }: { id: string }) {
  const close = useAct('POST /v1/questions/{id}/close');
  return (
    <ConfirmButton
      label={t('Close')}
      title={t('Close this question?')}
      confirmLabel={t('Close question')}
      act={() => close.mutateAsync({ params: { id } })}
    >
      {t(
        'The question is no longer shown. Answers from devices that were offline are accepted for 7 more days. Closed questions cannot be reopened, but they can be cloned.',
      )}
    </ConfirmButton>
  );
}

function Archive({ id }: { id: string }) {
  const archive = useAct('POST /v1/questions/{id}/archive');
  return (
    <Button isPending={archive.isPending} onPress={() => archive.mutate({ params: { id } }, { onError: showProblem })}>
      {t('Archive')}
    </Button>
  );
}

function Delete({ id }: { id: string }) {
  const remove = useAct('DELETE /v1/questions/{id}');
  const [, go] = useLocation();
  const act = async () => {
    await remove.mutateAsync({ params: { id } });
    toast(t('Draft deleted.'));
    go(pathTo('questions'), { replace: true });
  };
  return (
    <ConfirmButton label={t('Delete')} title={t('Delete this draft?')} confirmLabel={t('Delete draft')} act={act}>
      {t('The draft was never shown to users. This cannot be undone.')}
    </ConfirmButton>
  );
}

/** Buttons for the actions that the question's status allows. Drafts are published in the editor. */
export function QuestionActions({ question }: { question: Question }) {
  const { may } = useSession();
  if (!may('questions:write')) return null;
  const { id, status } = question;
  return (
    <>
      {status === 'draft' && <Delete id={id} />}
      {(status === 'scheduled' || status === 'live' || status === 'paused') && <Close id={id} />}
      {status === 'closed' && <Archive id={id} />}
      <Clone id={id} />
      {(status === 'live' || status === 'paused') && <PauseOrResume {...question} />}
    </>
  );
}
