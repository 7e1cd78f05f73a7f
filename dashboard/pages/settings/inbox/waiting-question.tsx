import { useState } from 'react';
import type { Schemas } from '../../../api/schema.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatNumber, t } from '../../../i18n.ts';

type Matches = Schemas['AssignmentRulesMatches'];

/** The conversations to which saved rules apply; undefined: they are not saved. */
type Choice = 'waiting' | 'new' | undefined;

interface Question extends Matches {
  answer(choice: Choice): void;
}

/** Returns a function that asks whether rules apply to the waiting conversations that they match, and the question. */
export function useWaitingQuestion() {
  const [question, setQuestion] = useState<Question>();
  const ask = (matches: Matches) =>
    new Promise<Choice>(answered => {
      const answer = (choice: Choice) => {
        setQuestion(undefined);
        answered(choice);
      };
      setQuestion({ ...matches, answer });
    });
  return { question, ask };
}

function matchesText({ count, more }: Matches): string {
  if (count === 0) return t('Not all waiting conversations were checked. Some may match these rules.');
  if (more)
    return t('At least {count} open conversations without an assignee match these rules.', {
      count: formatNumber(count),
    });
  return t(
    '{count, plural, one {# open conversation without an assignee matches} other {# open conversations without an assignee match}} these rules.',
    { count },
  );
}

/** Asks to which conversations the rules apply. */
export const WaitingQuestion = ({ question }: { question: Question | undefined }) => (
  <Dialog
    title={t('Apply the rules to waiting conversations?')}
    isOpen={question !== undefined}
    close={() => question?.answer(undefined)}
    dismissable="by-key"
  >
    {question && <p>{matchesText(question)}</p>}
    <p>
      {t('If the rules apply to new ones only, these stay as they are until their tags, priority or assignee change.')}
    </p>
    <div className="row">
      <Button look="primary" onPress={() => question?.answer('waiting')}>
        {t('Waiting and new ones')}
      </Button>
      <Button autoFocus onPress={() => question?.answer('new')}>
        {t('New ones only')}
      </Button>
    </div>
  </Dialog>
);
